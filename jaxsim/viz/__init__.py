"""Looking at motions: plots and pictures with matplotlib, and a 3-D player in one HTML file or in a notebook."""

from .html import save_html as save_html
from .html import show as show
from .live import Viewer as Viewer
from .pictures import draw as draw
from .pictures import save_gif as save_gif
from .pictures import save_strip as save_strip
from .plots import plot_energy as plot_energy
from .plots import plot_momentum as plot_momentum
from .plots import plot_residuals as plot_residuals
from .plots import plot_trajectory as plot_trajectory
from .plots import plot_violation as plot_violation
