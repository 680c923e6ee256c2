"""Real robots: whatever Pinocchio computes from a URDF, jaxsim computes too."""

import jax.numpy as jnp
import numpy as np
import pytest

pin = pytest.importorskip("pinocchio")

import jaxsim  # noqa: E402
from tests.oracles.pinocchio_comparison import compare, load, load_pinocchio, robots_directory  # noqa: E402

QUICK = [
    ("ur_description/urdf/ur5_robot.urdf", False),
    ("panda_description/urdf/panda.urdf", False),
    ("solo_description/robots/solo12.urdf", True),
]
ROBOTS = [
    "ur_description/urdf/ur3_robot.urdf",
    "ur_description/urdf/ur5_robot.urdf",
    "panda_description/urdf/panda.urdf",
    "hyq_description/robots/hyq_no_sensors.urdf",
    "anymal_b_simple_description/robots/anymal.urdf",
    "anymal_c_simple_description/urdf/anymal.urdf",
    "a1_description/urdf/a1.urdf",
    "solo_description/robots/solo12.urdf",
    "talos_data/robots/talos_reduced.urdf",
    "talos_data/robots/talos_full_v2.urdf",
    "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "double_pendulum_description/urdf/double_pendulum.urdf",
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    "kinova_description/robots/kinova.urdf",
    "baxter_description/urdf/baxter.urdf",
    "tiago_pro_description/robots/tiago_pro.urdf",
]
REFUSED = {
    "alex_description/urdf/alex_psyonic_hands.urdf": "mimics the joint 'index_q1'",
    "romeo_description/urdf/romeo.urdf": "moves no mass",
    "romeo_description/urdf/romeo_laas_small.urdf": "negative principal moment",
    "romeo_description/urdf/romeo_small.urdf": "triangle inequality",
    "ur_description/urdf/ur3.urdf": "no <link>",
}
TOLERANCE = 1e-9


@pytest.fixture(scope="module")
def robots():
    try:
        return robots_directory()
    except FileNotFoundError as error:
        pytest.skip(str(error))


def check(path, floating, **options):
    comparison = compare(path, floating, **options)
    assert comparison.worst < TOLERANCE, comparison.errors


@pytest.mark.parametrize(("name", "floating"), QUICK)
def test_agrees_with_pinocchio(robots, name, floating):
    check(robots / name, floating)


@pytest.mark.slow
@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", ROBOTS)
def test_every_named_robot_agrees_with_pinocchio(robots, name, floating):
    check(robots / name, floating)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["solo_description/robots/solo12.urdf", "ur_description/urdf/ur5_robot.urdf"])
def test_unmerged_links_agree_with_pinocchio(robots, name):
    check(robots / name, True, merge_fixed=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in REFUSED if "alex" not in name and "ur3" not in name])
def test_lenient_loading_keeps_the_file_as_it_is(robots, name):
    """Impossible inertias give the same inverse dynamics as in Pinocchio, which does not check them."""
    errors = compare(robots / name, True, strict=False).errors
    assert max(errors[key] for key in ("inverse dynamics", "mass matrix", "positions", "momentum")) < TOLERANCE


def test_limits_and_damping_agree_with_pinocchio(robots):
    path = robots / "panda_description/urdf/panda.urdf"
    other = load_pinocchio(path, False)
    with pytest.warns(UserWarning, match="left out"):
        model = jaxsim.load_urdf(path)
    index = [other.joints[other.getJointId(name)].idx_v for name in model.joint_names[1:9]]
    np.testing.assert_allclose(model.lower, other.lowerPositionLimit[index])
    np.testing.assert_allclose(model.effort_limit, other.upperEffortLimit[index])
    damping = np.array(other.damping[index])
    damping[-1] *= 2  # the finger that follows has the same damping as the one that leads
    np.testing.assert_allclose(model.damping, damping)


def test_the_order_of_bodies_is_that_of_the_file(robots):
    model = load(robots / "solo_description/robots/solo12.urdf", True)
    legs = [name[:2] for name in model.body_names[2:]]
    assert legs == ["FL"] * 3 + ["FR"] * 3 + ["HL"] * 3 + ["HR"] * 3


@pytest.mark.slow
def test_every_urdf_loads_or_is_refused_for_a_known_reason(robots):
    found = sorted(robots.rglob("*.urdf"))
    assert len(found) > 60
    for path in found:
        reason = REFUSED.get(str(path.relative_to(robots)))
        if reason is None:
            model = load(path, True)
            assert jnp.all(jnp.isfinite(model.mass))
        else:
            with pytest.raises(ValueError, match=reason) as caught:
                load(path, True)
            assert str(path) in str(caught.value)
