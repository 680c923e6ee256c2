import warnings

import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim import viz
from jaxsim.viz import solids
from jaxsim.viz.meshes import coarsened

mpl = pytest.importorskip("matplotlib", reason="pictures need the extra viz")
Image = pytest.importorskip("PIL.Image", reason="pictures need the extra viz")
pytest.importorskip("trimesh", reason="meshes need the extra viz")
mpl.use("Agg")


@pytest.fixture(scope="module")
def model():
    return jaxsim.robots.cartpole()


@pytest.fixture(scope="module")
def mechanism(model):
    return jaxsim.Mechanism.from_model(model)


@pytest.fixture(scope="module")
def trajectory(model):
    return jaxsim.simulate(model, jnp.array([0.0, 1.0]), duration=0.4, integrator=jaxsim.SemiImplicitEuler(0.01))


@pytest.mark.parametrize(
    ("solid", "volume"),
    [
        (solids.box((1.0, 2.0, 3.0)), 6.0),
        (solids.sphere(0.5), np.pi / 6),
        (solids.ellipsoid((0.5, 1.0, 0.2)), 4 / 3 * np.pi * 0.1),
        (solids.cylinder(0.5, 2.0), np.pi / 2),
        (solids.capsule(0.5, 2.0), np.pi / 2 + np.pi / 6),
        (solids.rod((1.0, 0.0, 0.0), (1.0, 2.0, 0.0), 0.5), np.pi / 2 + np.pi / 6),
    ],
)
def test_solids_are_closed_and_face_outwards(solid, volume):
    """The divergence theorem: Σ det(a, b, c)/6 over outward faces is the volume, a little less where it is round."""
    a, b, c = (solid.vertices[solid.faces[:, i]] for i in range(3))
    inside = np.sum(np.cross(a, b) * c) / 6.0
    assert 0.93 * volume < inside <= volume * (1 + 1e-12)


def test_a_mesh_is_coarsened_without_losing_its_form():
    fine = solids.capsule(0.5, 2.0, around=200, rings=60)
    coarse = coarsened(fine, 3000)
    assert len(coarse.faces) <= 3000 < len(fine.faces)
    np.testing.assert_allclose(np.ptp(coarse.vertices, axis=0), np.ptp(fine.vertices, axis=0), atol=0.1)


def test_the_box_of_a_uniform_box_is_that_box():
    inertia = jaxsim.BodyInertia.box(3.0, (0.4, 0.3, 0.2))
    drawn = viz.skeleton.inertia_box(inertia.mass, inertia.com, inertia.matrix)
    np.testing.assert_allclose(sorted(np.ptp(drawn.vertices, axis=0)), [0.2, 0.3, 0.4], rtol=1e-9)


def test_strips_and_animations(model, trajectory, tmp_path):
    with Image.open(viz.save_strip(model, trajectory, tmp_path / "strip.png", frames=3)) as strip:
        pixels = np.asarray(strip.convert("RGB")).astype(int)
    coloured = np.ptp(pixels, axis=-1) > 60
    thirds = np.array_split(coloured, 3, axis=1)
    assert all(third.sum() > 200 for third in thirds)
    assert np.any(thirds[0][:, :100] != thirds[2][:, :100])
    with Image.open(viz.save_gif(model, trajectory, tmp_path / "run.gif", frames_per_second=10)) as film:
        assert film.n_frames == 5


def test_plots_show_what_they_say(model, mechanism, trajectory):
    axes = viz.plot_energy(model, trajectory)
    kinetic, potential, total = (line.get_ydata() for line in axes.get_lines())
    np.testing.assert_allclose(kinetic + potential, total, rtol=1e-12)
    q, v = trajectory.q[7], trajectory.v[7]
    np.testing.assert_allclose(total[7], jaxsim.energy(model, q, v).total, rtol=1e-12)
    assert viz.plot_energy(model, trajectory, error=True).get_yscale() == "log"
    momenta = np.array([line.get_ydata()[7] for line in viz.plot_momentum(model, trajectory).get_lines()])
    np.testing.assert_allclose(momenta, jaxsim.momentum(model, q, v), atol=1e-12)
    there = jaxsim.to_maximal(model, q, v)
    np.testing.assert_allclose(viz.plots._momentum(mechanism, *there), momenta, atol=1e-12)
    lines = viz.plot_trajectory(model, trajectory).get_lines()
    np.testing.assert_array_equal(lines[1].get_ydata(), trajectory.q[:, 1])
    assert viz.plot_residuals(trajectory).get_ylabel() == "residual"
    with pytest.raises(ValueError, match="has no constraints"):
        viz.plot_violation(model, trajectory)
    mpl.pyplot.close("all")


def test_a_mesh_that_is_not_there_is_named_once(tmp_path):
    robot = """<robot name="r"><link name="a"><visual><geometry><mesh filename="none.stl"/></geometry></visual>
      <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
    model = jaxsim.load(robot, floating=True)
    with pytest.warns(UserWarning, match=r"1 shapes are not drawn: The mesh 'none.stl' was not found"):
        parts = viz.scene.parts_of(model)
    assert len(parts) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert viz.scene.parts_of(jaxsim.robots.humanoid())
