"""Rigid-body dynamics: pure functions of a model and its state, in linear time."""

from .aba import forward_dynamics as forward_dynamics
from .contracted_second_derivatives import ContractedForwardSecondDerivatives as ContractedForwardSecondDerivatives
from .contracted_second_derivatives import ContractedSecondDerivatives as ContractedSecondDerivatives
from .contracted_second_derivatives import (
    contracted_forward_dynamics_second_derivatives as contracted_forward_dynamics_second_derivatives,
)
from .contracted_second_derivatives import (
    contracted_inverse_dynamics_second_derivatives as contracted_inverse_dynamics_second_derivatives,
)
from .crba import mass_matrix as mass_matrix
from .energy import Energy as Energy
from .energy import center_of_mass as center_of_mass
from .energy import energy as energy
from .energy import momentum as momentum
from .forward_dynamics_derivatives import ForwardDynamicsDerivatives as ForwardDynamicsDerivatives
from .forward_dynamics_derivatives import forward_dynamics_derivatives as forward_dynamics_derivatives
from .forward_dynamics_derivatives import inverse_mass_matrix as inverse_mass_matrix
from .forward_dynamics_second_derivatives import ForwardDynamicsSecondDerivatives as ForwardDynamicsSecondDerivatives
from .forward_dynamics_second_derivatives import (
    forward_dynamics_second_derivatives as forward_dynamics_second_derivatives,
)
from .hybrid import hybrid_dynamics as hybrid_dynamics
from .inverse_dynamics_derivatives import InverseDynamicsDerivatives as InverseDynamicsDerivatives
from .inverse_dynamics_derivatives import inverse_dynamics_derivatives as inverse_dynamics_derivatives
from .inverse_dynamics_second_derivatives import InverseDynamicsSecondDerivatives as InverseDynamicsSecondDerivatives
from .inverse_dynamics_second_derivatives import (
    inverse_dynamics_second_derivatives as inverse_dynamics_second_derivatives,
)
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
from .parameter_derivatives import ParameterDerivatives as ParameterDerivatives
from .parameter_derivatives import forward_dynamics_parameter_derivatives as forward_dynamics_parameter_derivatives
from .parameter_derivatives import inertial_parameters as inertial_parameters
from .parameter_derivatives import inverse_dynamics_parameter_derivatives as inverse_dynamics_parameter_derivatives
from .parameter_derivatives import inverse_dynamics_regressor as inverse_dynamics_regressor
from .passive import passive_forces as passive_forces
from .passive import spring_energy as spring_energy
from .rnea import bias_forces as bias_forces
from .rnea import gravity_forces as gravity_forces
from .rnea import inverse_dynamics as inverse_dynamics
