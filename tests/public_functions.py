"""Every public function of a model and its state, in one form, for the tests that hold for all of them."""

from __future__ import annotations

import jax
import jax.numpy as jnp

import jaxsim
from tests.samples import Sample

STEP = 0.05


def _rollout(method):
    def run(model, s: Sample):
        controls = jnp.stack([s.tau, s.a])
        trajectory = jaxsim.rollout(model, method, method.init(model, s.q, s.v), controls)
        return trajectory.q, trajectory.v

    return run


def _preconditioner(model, s: Sample):
    scale = jnp.sum(s.f_ext**2, axis=1)[:, None, None]
    return jaxsim.inverse_mass_product(model, s.q, s.tau, scale * jnp.eye(6, dtype=s.q.dtype), s.a**2)


def _random(model, s: Sample):
    return jaxsim.random_configuration(model, jax.random.key(0)) + s.q


FUNCTIONS = {
    "inverse_dynamics": lambda m, s: jaxsim.inverse_dynamics(m, s.q, s.v, s.a, s.f_ext),
    "forward_dynamics": lambda m, s: jaxsim.forward_dynamics(m, s.q, s.v, s.tau, s.f_ext),
    "mass_matrix": lambda m, s: jaxsim.mass_matrix(m, s.q),
    "inverse_mass_product": lambda m, s: jaxsim.inverse_mass_product(m, s.q, s.tau),
    "inverse_mass_product, preconditioned": _preconditioner,
    "inverse_mass_matrix": lambda m, s: jaxsim.inverse_mass_matrix(m, s.q),
    "hybrid_dynamics": lambda m, s: jaxsim.hybrid_dynamics(m, s.q, s.v, s.tau, s.a, jnp.arange(m.nv) % 2 == 0, s.f_ext),
    "bias_forces": lambda m, s: jaxsim.bias_forces(m, s.q, s.v),
    "gravity_forces": lambda m, s: jaxsim.gravity_forces(m, s.q),
    "passive_forces": lambda m, s: jaxsim.passive_forces(m, s.q, s.v),
    "forward_kinematics": lambda m, s: jaxsim.forward_kinematics(m, s.q),
    "frame_pose": lambda m, s: jaxsim.frame_pose(m, s.q, "tip"),
    "body_velocities": lambda m, s: jaxsim.body_velocities(m, s.q, s.v),
    "jacobian": lambda m, s: jaxsim.jacobian(m, s.q, "arm", (0.1, 0.2, 0.3)),
    "jacobian_derivative": lambda m, s: jaxsim.jacobian_derivative(m, s.q, s.v, "arm", (0.1, 0.2, 0.3)),
    "jacobian_product": lambda m, s: jaxsim.jacobian_product(m, s.q, s.a),
    "jacobian_rate_product": lambda m, s: jaxsim.jacobian_rate_product(m, s.q, s.v, s.a),
    "jacobian_transpose_product": lambda m, s: jaxsim.jacobian_transpose_product(m, s.q, s.f_ext),
    "energy": lambda m, s: jaxsim.energy(m, s.q, s.v),
    "momentum": lambda m, s: jaxsim.momentum(m, s.q, s.v),
    "center_of_mass": lambda m, s: jaxsim.center_of_mass(m, s.q),
    "integrate": lambda m, s: jaxsim.integrate(m, s.q, s.v),
    "difference": lambda m, s: jaxsim.difference(m, m.spring_reference, s.q),
    "random_configuration": _random,
    "rollout, semi-implicit Euler": _rollout(jaxsim.SemiImplicitEuler(STEP)),
    "rollout, Runge–Kutta": _rollout(jaxsim.RungeKutta4(STEP)),
}

DERIVATIVES = {
    "inverse_dynamics_derivatives": lambda m, s: jaxsim.inverse_dynamics_derivatives(m, s.q, s.v, s.a),
    "forward_dynamics_derivatives": lambda m, s: jaxsim.forward_dynamics_derivatives(m, s.q, s.v, s.tau),
    "inverse_dynamics_second_derivatives": lambda m, s: jaxsim.inverse_dynamics_second_derivatives(m, s.q, s.v, s.a),
    "forward_dynamics_second_derivatives": lambda m, s: jaxsim.forward_dynamics_second_derivatives(m, s.q, s.v, s.tau),
}

ELSEWHERE = {
    "add_sheet": "tests of deformables",
    "add_strand": "tests of deformables",
    "applied_forces": "tests of forces",
    "constrained_dynamics": "tests of constraints",
    "constrained_velocity": "tests of constraints",
    "friction_torques": "tests of joint friction",
    "post_stabilised": "tests of constraints",
    "reduced_accelerations": "tests of hyper-reduced coordinates",
    "vector_field": "tests of implicit integrators",
    "contracted_forward_dynamics_second_derivatives": "tests of the derivatives",
    "contracted_inverse_dynamics_second_derivatives": "tests of the derivatives",
    "forward_dynamics_parameter_derivatives": "tests of the derivatives",
    "inverse_dynamics_parameter_derivatives": "tests of the derivatives",
    "inverse_dynamics_regressor": "tests of the derivatives",
    "inertial_parameters": "tests of the derivatives",
    "describe": "text",
    "discrete_energy": "tests of variational integrators",
    "discrete_momentum": "tests of variational integrators",
    "load": "reads a file",
    "load_mjcf": "reads a file",
    "load_urdf": "reads a file",
    "to_maximal": "tests of maximal coordinates",
    "to_minimal": "tests of maximal coordinates",
    "simulate": "compiles itself; see the tests of rollouts",
}
"""Public functions that are tested elsewhere, and where or why."""
