"""Built-in robots, which need no file."""

from .acrobot import acrobot as acrobot
from .arm import arm as arm
from .cartpole import cartpole as cartpole
from .chain import chain as chain
from .chain import pendulum as pendulum
from .humanoid import humanoid as humanoid
from .quadruped import quadruped as quadruped
from .random_tree import random_tree as random_tree
