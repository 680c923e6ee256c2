"""Physical accuracy in maximal coordinates (Brüdigam et al. 2023, Fig. 7a and 7d), against rivals in the same run.

    python benchmarks/maximal_accuracy.py [steps]

Constraint drift of a three-link loop: the variational integrator against RK4 with acceleration-level constraints.
Rest gap of a dropped box: rigid contact against MuJoCo's default contact.
"""

import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import mujoco
import numpy as np

from jaxsim.integrators import MaximalVariational
from jaxsim.maximal import WORLD, MechanismBuilder
from jaxsim.maximal.forces import conservative_wrench
from jaxsim.maximal.joint_jacobian import constraint_jacobian
from jaxsim.maximal.state import BodyPose
from jaxsim.rollout import rollout

DT = 0.01


def three_link_loop():
    """Rods of 1, √½ and 1 m between two pivots 1 m apart, the last joint a pin with two rows."""
    lengths = (1.0, np.sqrt(0.5), 1.0)
    builder = MechanismBuilder()
    for l in lengths:
        builder.add_body(l, (l**3 / 12 + 1e-3, l**3 / 12 + 1e-3, 2e-3))
    tops, ends = [(0, 0, l / 2) for l in lengths], [(0, 0, -l / 2) for l in lengths]
    builder.add_joint("revolute", WORLD, 0, anchor_child=tops[0], axis="x")
    builder.add_joint("revolute", 0, 1, anchor_parent=ends[0], anchor_child=tops[1], axis="x")
    builder.add_joint("revolute", 1, 2, anchor_parent=ends[1], anchor_child=tops[2], axis="x")
    pin = "cylindrical_free_orientation"
    builder.add_joint(pin, WORLD, 2, anchor_parent=(0, 1, 0), anchor_child=ends[2], axis="x")
    angles = [0.0, 0.75 * np.pi - np.arccos(0.75)]
    q, start = [], np.zeros(2)
    for l, angle in zip(lengths, [*angles, None], strict=True):
        if angle is None:
            left = np.array([1.0, 0.0]) - start
            angle = np.arctan2(left[0], -left[1])
        way = np.array([np.sin(angle), -np.cos(angle)])
        q.append([0, *(start + 0.5 * l * way), np.cos(angle / 2), np.sin(angle / 2), 0, 0])
        start = start + l * way
    return builder.build(), jnp.asarray(q)


def runge_kutta_drift(mechanism, q, steps):
    """The violation after each step of RK4 on M a = f + Gᵀλ, G a = −Ġ v, without stabilisation."""
    nb, joints = mechanism.num_bodies, mechanism.joints
    rows = np.flatnonzero(joints.rows.ravel())

    def full_jacobian(q):
        G = jnp.zeros((mechanism.num_joints, 6, nb + 1, 6))
        for side, bodies in zip(
            constraint_jacobian(joints, *mechanism.pair(q, joints.bodies)), joints.bodies, strict=True
        ):
            G = G.at[np.arange(mechanism.num_joints), :, bodies].add(side)
        return G[:, :, :nb].reshape(-1, 6 * nb)[rows]

    def acceleration(q, v):
        M = jnp.zeros((nb, 6, nb, 6)).at[np.arange(nb), :3, np.arange(nb), :3].set(mechanism.inertia)
        M = M.at[np.arange(nb), 3:, np.arange(nb), 3:].set(mechanism.mass[:, None, None] * jnp.eye(3))
        gyro = jnp.cross(v[:, :3], jnp.einsum("bij,bj->bi", mechanism.inertia, v[:, :3]))
        f = conservative_wrench(mechanism, q) - jnp.concatenate([gyro, jnp.zeros((nb, 3))], axis=-1)
        pose = BodyPose.from_array(q)
        G, dG = jax.jvp(lambda h: full_jacobian(pose.displaced(h * v).to_array()), (0.0,), (1.0,))
        n = len(rows)
        K = jnp.block([[M.reshape(6 * nb, 6 * nb), -G.T], [G, jnp.zeros((n, n))]])
        return jnp.linalg.solve(K, jnp.concatenate([f.ravel(), -dG @ v.ravel()]))[: 6 * nb].reshape(nb, 6)

    def rate(y):
        q, v = y
        _, q_dot = jax.jvp(lambda h: BodyPose.from_array(q).displaced(h * v).to_array(), (0.0,), (1.0,))
        return q_dot, acceleration(q, v)

    def step(y, _):
        def along(k, h):
            return jax.tree.map(lambda a, b: a + h * b, y, k)

        k1 = rate(y)
        k2 = rate(along(k1, DT / 2))
        k3 = rate(along(k2, DT / 2))
        k4 = rate(along(k3, DT))
        y = jax.tree.map(lambda a, b, c, d, e: a + DT / 6 * (b + 2 * c + 2 * d + e), y, k1, k2, k3, k4)
        return y, jnp.max(jnp.abs(mechanism.violation(y[0])))

    return jax.jit(lambda q: jax.lax.scan(step, (q, jnp.zeros((nb, 6))), None, length=steps)[1])(q)


def box_drop(steps):
    """The lowest gap of a 0.5 m box after a drop from 0.4 m, and its lowest gap on the way."""
    builder = MechanismBuilder()
    box = builder.add_body(1.0, (1 / 24,) * 3)
    builder.add_box_on_plane(box, (0.25,) * 3, friction=0.5)
    mechanism, integrator = builder.build(), MaximalVariational(DT)
    q = jnp.array([[0, 0, 0.65, 1.0, 0, 0, 0]])
    trajectory = eqx.filter_jit(lambda m, q: rollout(m, integrator, integrator.init(m, q), steps=steps))(mechanism, q)
    gaps = jnp.min(jax.vmap(mechanism.gaps)(trajectory.q), axis=-1)
    return float(gaps[-1]), float(jnp.min(gaps)), bool(trajectory.converged)


def mujoco_box_drop(steps):
    xml = f"""<mujoco><option timestep="{DT}"/><worldbody><geom type="plane" size="5 5 1"/>
    <body pos="0 0 0.65"><freejoint/><geom type="box" size="0.25 0.25 0.25" mass="1"/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    heights = []
    for _ in range(steps):
        mujoco.mj_step(model, data)
        heights.append(data.qpos[2] - 0.25)
    return heights[-1], min(heights)


def main():
    jax.config.update("jax_enable_x64", True)
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    mechanism, q = three_link_loop()
    integrator = MaximalVariational(DT)
    run = eqx.filter_jit(lambda m, q: rollout(m, integrator, integrator.init(m, q), steps=steps))
    ours = run(mechanism, q)
    theirs = runge_kutta_drift(mechanism, q, steps)
    print(f"jax {jax.__version__}, mujoco {mujoco.__version__}, {steps} steps of {DT} s")
    print(f"three-link loop, violation at the end [m, rad]: variational {float(ours.info.violation[-1]):.2e} "
          f"(largest {float(jnp.max(ours.info.violation)):.2e}, all converged: {bool(ours.converged)}), "
          f"RK4 {float(theirs[-1]):.2e}")  # fmt: skip
    rest, lowest, converged = box_drop(150)
    rival, rival_lowest = mujoco_box_drop(150)
    print(f"dropped box, gap at rest and lowest [m]: ours {rest:.2e}, {lowest:.2e} (converged: {converged}), "
          f"MuJoCo {rival:.2e}, {rival_lowest:.2e}")  # fmt: skip


if __name__ == "__main__":
    main()
