"""The twelve Euler charts against the printed tables, and changes from one to another."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsim.joints import CHARTS, EulerSpherical
from jaxsim.spatial import Mat3, Vec3, so3
from tests.joints import euler_tables
from tests.joints.joint_table import columns

close = functools.partial(np.testing.assert_allclose, rtol=0, atol=3e-15)
every_chart = pytest.mark.parametrize("chart", CHARTS)
V = np.array([0.7, -0.4, 1.3])
PROPER = [chart for chart in CHARTS if chart[0] == chart[2]]


def state(chart, seed=0):
    return np.array(EulerSpherical(chart).random(jax.random.key(seed)))


def printed(text, q, v=V):
    names = {f"{kind}{i + 1}": f(q[i]) for i in range(3) for kind, f in (("s", np.sin), ("c", np.cos))}
    names |= {f"d{i + 1}": v[i] for i in range(3)}
    rows = [[eval(entry, names) for entry in row.split(",")] for row in text.split(";")]
    return np.array(rows, float)


def test_all_charts_are_there():
    assert sorted(CHARTS) == sorted(euler_tables.ROTATION)
    assert len(set(CHARTS)) == 12


@every_chart
def test_tables_as_printed(chart):
    joint, q = EulerSpherical(chart), state(chart)
    close(joint.transform(q).rotation.to_array(), printed(euler_tables.ROTATION[chart], q))
    close(columns(joint.subspace(q))[:3], printed(euler_tables.SUBSPACE[chart], q))
    close(columns(joint.subspace(q))[3:], np.zeros((3, 3)))
    close(joint.bias(q, V).angular.to_array(), printed(euler_tables.SUBSPACE_RATE[chart], q) @ V)
    close(joint.determinant(q), printed(euler_tables.DETERMINANT[chart], q)[0, 0])


@every_chart
def test_angles_invert_the_transform(chart):
    joint, q = EulerSpherical(chart), state(chart, seed=3)
    close(np.array(joint.angles(joint.transform(q).rotation)), q)


@jax.jit
def _xyz_to_zxz_and_back(q, v, a):
    xyz, zxz = EulerSpherical("XYZ"), EulerSpherical("ZXZ")
    there = xyz.convert(zxz, q, v, a)
    return there, zxz.convert(xyz, *there)


def test_conversion_there_and_back():
    q, v, a = state("XYZ"), V, np.array([0.2, 1.1, -0.6])
    there, back = _xyz_to_zxz_and_back(q, v, a)
    for x, y in zip(back, (q, v, a), strict=True):
        close(np.array(x), y, atol=2e-14)
    xyz, zxz = EulerSpherical("XYZ"), EulerSpherical("ZXZ")
    close(zxz.transform(there[0]).rotation.to_array(), xyz.transform(q).rotation.to_array())


@pytest.mark.parametrize(
    "chart", [pytest.param(chart, marks=[pytest.mark.slow] * (chart not in ("XYZ", "ZYX", "ZXZ"))) for chart in CHARTS]
)
def test_conversion_keeps_the_motion(chart):
    """The new coordinates move as the angles of the moving rotation do: q(t), v = dq/dt, a = d²q/dt² (eq. 2.40)."""
    joint, other = EulerSpherical(chart), EulerSpherical("YXZ" if chart[0] == chart[2] else "ZXZ")
    q, a = state(chart), np.array([0.2, 1.1, -0.6])

    def angles_at(t):
        return jnp.stack(other.angles(joint.transform(q + V * t + a * t**2 / 2).rotation))

    rate = jax.jacfwd(angles_at)
    expected = jax.jit(lambda t: (angles_at(t), rate(t), jax.jacfwd(rate)(t)))(0.0)
    for converted, truth in zip(joint.convert(other, q, V, a), expected, strict=True):
        close(np.array(converted), truth, atol=5e-14 * max(1.0, np.abs(truth).max()))


@every_chart
def test_angles_near_and_in_gimbal_lock(chart):
    """R comes back to rounding, however close to the lock."""
    joint = EulerSpherical(chart)
    lock = 0.0 if chart in PROPER else np.pi / 2
    offsets = np.array([0.0, 1e-300, 1e-17, 1e-12, 1e-8, 1e-4])
    q = jnp.stack([jnp.full(6, 0.4), lock - offsets, jnp.full(6, 1.3)])
    R = joint.transform(tuple(q)).rotation
    close(joint.transform(joint.angles(R)).rotation.to_array(), R.to_array())


@pytest.mark.parametrize("mode", [jax.jacfwd, jax.jacrev])
@pytest.mark.parametrize("chart", ["XYZ", "ZXZ"])
def test_angles_in_gimbal_lock_have_finite_gradients(chart, mode):
    joint = EulerSpherical(chart)
    locked = joint.transform((0.4, 0.0 if chart in PROPER else np.pi / 2, 1.3)).rotation
    exactly = Mat3.from_array(jnp.round(joint.transform((0.0, 0.0, 0.0)).rotation.to_array()))
    for R in (locked, exactly):

        def angles(w, R=R):
            return jnp.stack(joint.angles(R.matmul(so3.exp(Vec3.from_array(w)))))

        assert np.all(np.isfinite(mode(angles)(jnp.zeros(3))))


def test_best_chart_is_far_from_gimbal_lock():
    joint = EulerSpherical("XYZ")
    for seed in range(5):
        q = state("XYZ", seed)
        best = EulerSpherical(joint.best_chart(q))
        determinants = {
            chart: abs(float(EulerSpherical(chart).determinant(EulerSpherical(chart).angles(rotation(q)))))
            for chart in CHARTS
        }
        assert determinants[best.chart] == pytest.approx(max(determinants.values()), abs=1e-12)
        assert determinants[best.chart] > 0.81


def rotation(q) -> Mat3:
    return EulerSpherical("XYZ").transform(q).rotation


def test_switching_waits_for_the_threshold():
    joint = EulerSpherical("XYZ")
    far, near = np.array([0.3, 1.0, 0.2]), np.array([0.3, 1.5, 0.2])
    assert joint.switched(far, V)[0] is joint
    other, q, v = joint.switched(near, V)
    assert other.chart != "XYZ"
    assert abs(float(other.determinant(q))) > 0.81
    close(other.transform(q).rotation.to_array(), rotation(near).to_array())
    omega = columns(other.subspace(q))[:3] @ np.array(v)
    close(omega, columns(joint.subspace(near))[:3] @ V, atol=2e-14)


def test_switching_keeps_the_precision():
    joint = jax.tree.map(lambda leaf: leaf.astype(jnp.float32), EulerSpherical("XYZ"))
    other, q, v = joint.switched(jnp.array([0.3, 1.5, 0.2], jnp.float32), jnp.asarray(V, jnp.float32))
    assert {x.dtype for x in (other.axes, *q, *v)} == {jnp.dtype(jnp.float32)}


def test_best_chart_of_a_traced_configuration_is_refused():
    with pytest.raises(TypeError, match="call this outside jit"):
        jax.jit(lambda q: EulerSpherical().best_chart(tuple(q)))(jnp.zeros(3))


def test_neutral_is_regular():
    for chart in CHARTS:
        joint = EulerSpherical(chart)
        assert abs(float(joint.determinant(joint.neutral()))) == pytest.approx(1.0)
