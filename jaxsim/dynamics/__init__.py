"""Rigid-body dynamics: pure functions of a model and its state, in linear time."""

from .aba import forward_dynamics as forward_dynamics
from .crba import mass_matrix as mass_matrix
from .energy import Energy as Energy
from .energy import center_of_mass as center_of_mass
from .energy import energy as energy
from .energy import momentum as momentum
from .hybrid import hybrid_dynamics as hybrid_dynamics
from .inverse_inertia import inverse_mass_product as inverse_mass_product
from .jacobian import jacobian as jacobian
from .jacobian import jacobian_derivative as jacobian_derivative
from .jacobian import jacobian_product as jacobian_product
from .jacobian import jacobian_rate_product as jacobian_rate_product
from .jacobian import jacobian_transpose_product as jacobian_transpose_product
from .kinematics import Poses as Poses
from .kinematics import body_velocities as body_velocities
from .kinematics import forward_kinematics as forward_kinematics
from .kinematics import frame_pose as frame_pose
from .passive import passive_forces as passive_forces
from .passive import spring_energy as spring_energy
from .rnea import bias_forces as bias_forces
from .rnea import gravity_forces as gravity_forces
from .rnea import inverse_dynamics as inverse_dynamics
