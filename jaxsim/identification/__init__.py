"""System identification: masses, inertias, friction, damping and lengths from trajectories."""

from .fit import Fit as Fit
from .fit import identify as identify
from .fit import prediction_errors as prediction_errors
from .least_squares import levenberg_marquardt as levenberg_marquardt
from .log_cholesky import inertias_from_log_cholesky as inertias_from_log_cholesky
from .log_cholesky import log_cholesky as log_cholesky
from .parametrisation import Parametrisation as Parametrisation
