"""Everything that jaxsim and Pinocchio both compute, on the same URDF and at the same random states."""

from __future__ import annotations

import dataclasses
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import jaxsim
from jaxsim.model.on_tree import tree

STATES = 20


@dataclasses.dataclass
class Comparison:
    """The largest relative errors over all states, by quantity."""

    model: jaxsim.Model
    errors: dict[str, float]

    @property
    def worst(self) -> float:
        return max(self.errors.values())


def robots_directory() -> Path:
    """Where example-robot-data keeps its robots."""
    import pinocchio

    for parent in Path(pinocchio.__file__).parents:
        if (candidate := parent / "share" / "example-robot-data" / "robots").is_dir():
            return candidate
    raise FileNotFoundError("example-robot-data is not installed next to pinocchio")


def load(path: Path, floating: bool, strict: bool = True, merge_fixed: bool = True) -> jaxsim.Model:
    """The model without damping, which Pinocchio does not simulate, and without the warning of what is left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = jaxsim.load_urdf(path, floating=floating, strict=strict, merge_fixed=merge_fixed)
    return dataclasses.replace(model, damping=jnp.zeros_like(model.damping))


def load_pinocchio(path: Path, floating: bool, mimic: bool = True):
    import pinocchio as pin

    root = (pin.JointModelFreeFlyer(),) if floating else ()
    return pin.buildModelFromUrdf(str(path), *root, mimic=mimic)


def load_both(path: Path, floating: bool, **options):
    """The model and Pinocchio's; joints that mimic move on their own in both where Pinocchio cannot couple them.

    Pinocchio orders joints by name and refuses a joint that comes before the one that it mimics.
    """
    model = load(path, floating, **options)
    try:
        return model, load_pinocchio(path, floating)
    except ValueError as error:
        if "mimic" not in str(error):
            raise
        return tree(model), load_pinocchio(path, floating, mimic=False)


def compare(path: Path, floating: bool, states: int = STATES, **options) -> Comparison:
    """Inverse and forward dynamics, mass matrix, poses of all links and centroidal momentum, in their coordinates."""
    model, other = load_both(path, floating, **options)
    conversion = jaxsim.interop.pinocchio(model, other)
    inputs = random_states(other, states)
    # the run takes milliseconds, the compilation seconds: do not optimise
    fast = {"xla_backend_optimization_level": 0}
    run = jax.jit(jax.vmap(lambda *state: _ours(model, conversion, other, *state)), compiler_options=fast)
    ours = run(*inputs)
    theirs = [_theirs(other, *state) for state in zip(*inputs, strict=True)]
    errors = {}
    for key in theirs[0]:
        expected, got = np.stack([state[key] for state in theirs]), np.asarray(ours[key])
        axes = tuple(range(1, got.ndim))
        scale = np.maximum(np.abs(expected).max(axis=axes, initial=0.0), 1e-3)
        errors[key] = float((np.abs(got - expected).max(axis=axes, initial=0.0) / scale).max())
    return Comparison(model, errors)


def random_states(other, states: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Configurations within the limits, velocities and accelerations of order one, in Pinocchio's coordinates."""
    import pinocchio as pin

    pin.seed(0)
    lower, upper = (np.clip(np.nan_to_num(limit), -2.0, 2.0) for limit in _limits(other))
    q = np.stack([pin.randomConfiguration(other, lower, upper) for _ in range(states)])
    rng = np.random.default_rng(0)
    return q, rng.normal(size=(states, other.nv)), rng.normal(size=(states, other.nv))


def _limits(other):
    low, high = other.lowerPositionLimit, other.upperPositionLimit
    return np.where(high > low, low, -1.0), np.where(high > low, high, 1.0)


def _ours(model, conversion, other, their_q, their_v, their_a):
    q = conversion.from_configuration(their_q)
    v = conversion.from_velocity(q, their_v)
    a = conversion.from_acceleration(model, q, v, their_a)
    tau = jaxsim.inverse_dynamics(model, q, v, a)
    T = conversion.matrix(q)
    poses = jaxsim.forward_kinematics(model, q)
    frames = [poses.of(model, name) for name in link_names(other)]
    com = jaxsim.center_of_mass(model, q)
    h = jaxsim.momentum(model, q, v)
    return {
        "inverse dynamics": conversion.forces(q, tau),
        "forward dynamics": conversion.acceleration(model, q, v, jaxsim.forward_dynamics(model, q, v, tau)),
        "mass matrix": T @ jaxsim.mass_matrix(model, q) @ T.T,
        "rotations": jnp.stack([R for R, _ in frames]),
        "positions": jnp.stack([p for _, p in frames]),
        "center of mass": com,
        "momentum": jnp.concatenate([h[3:], h[:3] - jnp.cross(com, h[3:])]),
    }


def link_names(other) -> list[str]:
    """The links of the file; "world" is ours, wherever the root moves."""
    import pinocchio as pin

    names = [frame.name for frame in other.frames if frame.type == pin.FrameType.BODY]
    return [name for name in names if name not in ("universe", "world")]


def _theirs(other, q, v, a):
    import pinocchio as pin

    data = other.createData()
    tau = pin.rnea(other, data, q, v, a).copy()
    M = pin.crba(other, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    bias = pin.nonLinearEffects(other, data, q, v).copy()
    com = pin.centerOfMass(other, data, q).copy()
    h = pin.computeCentroidalMomentum(other, data, q, v).vector.copy()
    pin.framesForwardKinematics(other, data, q)
    frames = [data.oMf[other.getFrameId(name, pin.FrameType.BODY)] for name in link_names(other)]
    return {
        "inverse dynamics": tau,
        "forward dynamics": np.linalg.solve(M, tau - bias),
        "mass matrix": M,
        "rotations": np.stack([frame.rotation for frame in frames]),
        "positions": np.stack([frame.translation for frame in frames]),
        "center of mass": com,
        "momentum": h,
    }
