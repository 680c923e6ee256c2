"""Small systems and their discrete mechanics by automatic differentiation of the discrete action."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import jaxsim
from jaxsim.forces.body import BodyDrag, ConstantWrench, total_wrench
from jaxsim.spatial import Mat3, Motion, Pose, Vec3
from jaxsim.variational.chart import ball_parts, retract, velocity
from jaxsim.variational.nodes import StepProblem, displacements
from jaxsim.variational.quadrature import lobatto

SCREWS = (
    jaxsim.Revolute((0.3, -0.5, 0.8)),
    jaxsim.Prismatic((0.2, 0.9, -0.4)),
    jaxsim.Helical("x", 0.3),
    jaxsim.Fixed(),
)
BALLS = (
    jaxsim.Free(),
    jaxsim.Revolute("y"),
    jaxsim.Spherical(),
    jaxsim.Composite(jaxsim.Spherical(), jaxsim.Prismatic("z")),
)
UNIVERSALS = (jaxsim.Universal(), jaxsim.Cylindrical("x"), jaxsim.Planar())


def tree(n, seed, joints, springs=True, dissipation=True):
    """A random tree with armature on all joints and, where asked for, dampers, and springs on the flat joints."""
    rng = np.random.default_rng(seed)
    model = jaxsim.robots.random_tree(n, seed, joints)

    def draw(scale):
        return jnp.asarray(rng.uniform(0.0, scale, model.nv))

    flat = np.ones(model.nv)
    for joint, v_rows in zip(model.joints, model.topology.v_rows, strict=True):
        # a model says when it is built whether springs act on joints with quaternions
        flat[v_rows] = joint.is_euclidean
    leaves = draw(0.2), draw(2.0) * (flat if springs else 0.0), draw(0.5) * dissipation
    return eqx.tree_at(lambda m: (m.armature, m.stiffness, m.damping), model, leaves)


def body_forces(model, seed, dissipation=True):
    rng = np.random.default_rng(seed + 1)
    constant = ConstantWrench(jnp.asarray(rng.normal(size=(model.num_bodies, 6)) * np.r_[0, 0, 0, 1, 1, 1]))
    return (BodyDrag(jnp.asarray(rng.normal(size=(model.num_bodies, 6, 6)))), constant) if dissipation else (constant,)


def problem(model, s, seed, h=0.1, forces=()):
    """A step in full motion, and a trial value for its unknowns."""
    rng = np.random.default_rng(seed + 2)
    q0 = jaxsim.random_configuration(model, jax.random.key(seed))
    p = jnp.asarray(rng.normal(size=model.nv))
    tau = jnp.asarray(rng.normal(size=(s + 1, model.nv)))
    v = rng.normal(size=model.nv)
    z = jnp.asarray(h * v * lobatto(s).nodes[1:, None] + 0.05 * rng.normal(size=(s, model.nv)))
    return StepProblem(model, q0, p, tau, jnp.asarray(h), forces, s), z


def start_turned(problem, zeta):
    """The problem with its start moved by ζ along the quaternions only, in body axes; flat coordinates stay."""
    model = problem.model
    turn = jnp.zeros(model.nv)
    for part in ball_parts(model):
        turn = turn.at[part.v_rows[:3]].set(zeta[part.v_rows[:3]])
    return eqx.tree_at(lambda p: p.q0, problem, jaxsim.integrate(model, problem.q0, turn))


def discrete_lagrangian(problem, xi):
    """L_d = Δt Σ w^α (T − V)(q^α, v^α)."""
    model, rule = problem.model, problem.rule

    def lagrangian(x, rate):
        q = retract(model, problem.q0, x)
        energy = jaxsim.energy(model, q, velocity(model, q, x, rate))
        return energy.kinetic - energy.potential

    return problem.h * rule.weights @ jax.vmap(lagrangian)(xi, jnp.asarray(rule.b) @ xi / problem.h)


def forcing(problem, xi):
    """The generalised forces on ξ (s + 1, nv) and on the start of the quaternion joints (nv,), without potentials."""
    model, rule = problem.model, problem.rule

    def at_node(x, rate, tau, weight):
        q = retract(model, problem.q0, x)
        v = velocity(model, q, x, rate)
        impulse = problem.h * weight * (_body_part(problem, q, v) + tau - model.damping * v)

        def moved(x, zeta):
            return jaxsim.difference(model, q, retract(model, start_turned(problem, zeta).q0, x))

        return jax.vjp(moved, x, jnp.zeros(model.nv))[1](impulse)

    rates = jnp.asarray(rule.b) @ xi / problem.h
    on_xi, on_start = jax.vmap(at_node)(xi, rates, problem.tau, jnp.asarray(rule.weights))
    return on_xi, on_start.sum(axis=0)


def _body_part(problem, q, v):
    model = problem.model
    if not problem.forces:
        return jnp.zeros(model.nv)
    poses = jaxsim.forward_kinematics(model, q)
    pose = Pose(Mat3.from_array(poses.rotation), Vec3.from_array(poses.position))
    twists, pull = jax.vjp(lambda v: jaxsim.body_velocities(model, q, v), v)
    return pull(total_wrench(problem.forces, model, pose, Motion.from_array(twists)).to_array())[0]


def true_rows(problem, z):
    """The DEL rows by automatic differentiation, those of quaternion joints as ``ball.py`` defines them; and p'."""
    return rows_of_action(discrete_lagrangian, problem, z)


def rows_of_action(discrete_action, problem, z):
    """The same for any discrete action of the problem and the displacements."""
    model, s = problem.model, problem.s
    xi = displacements(z)

    def action(xi, zeta):
        return discrete_action(start_turned(problem, zeta), xi)

    by_xi, by_start = jax.grad(action, (0, 1))(xi, jnp.zeros(model.nv))
    on_xi, on_start = forcing(problem, xi)
    rho, start = by_xi + on_xi, by_start + on_start
    rows, p_end = rho[:s].at[0].add(problem.p), rho[s]
    for part in ball_parts(model):
        for r in part.v_rows.T:
            J, C, R0, R1 = _ball_matrices(model, part, problem.q0, z[-1], r)
            n = C @ J
            rows = rows.at[0, r[:3]].set(n.T @ (problem.p[r[:3]] + start[r[:3]]) - rho[s, r[:3]])
            p_end = p_end.at[r[:3]].set(jnp.linalg.solve(J.T, rho[s, r[:3]]))
            if len(r) > 3:
                rows = rows.at[0, r[3:]].set(R0 @ problem.p[r[3:]] + rho[0, r[3:]])
                p_end = p_end.at[r[3:]].set(R1.T @ rho[s, r[3:]])
    return rows, p_end


def _ball_matrices(model, part, q0, xi, r):
    column = int(np.flatnonzero((part.v_rows == r[:, None]).all(axis=0))[0])
    quaternion = q0[part.q_rows[-4:, column]]
    R0 = jaxsim.spatial.Quaternion.from_array(quaternion).to_matrix().to_array()
    x, y, z = theta = xi[r[:3]]
    hat = jnp.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    k = 1 / (1 + theta @ theta / 4)
    C = jnp.eye(3) + k * (hat + hat @ hat / 2)
    return k * (jnp.eye(3) - hat / 2), C, R0, R0 @ C
