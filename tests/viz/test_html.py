"""The page is opened in a real browser: it draws, plays, pauses and goes to any time."""

import dataclasses
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsim
from jaxsim import viz
from tests.viz.browser import evaluate, screenshot


@pytest.fixture(scope="module")
def model():
    """A pendulum of which every link wears a shape of its own."""
    builder = jaxsim.ModelBuilder()
    first = builder.add_body("first", 0, jaxsim.Revolute("y"), inertia=jaxsim.BodyInertia.rod(1.0, (0, 0, -1.0), 0.05))
    builder.add_body("second", first, jaxsim.Spherical(), (0, 0, -1.0), jaxsim.BodyInertia.box(1.0, (0.4, 0.3, 0.2)))
    return builder.build()


@pytest.fixture(scope="module")
def trajectory(model):
    """Made by hand, so that the test knows where everything is: the first link turns once in two seconds."""
    t = np.linspace(0.0, 2.0, 41)
    q = np.zeros((41, 5))
    q[:, 0], q[:, 1] = np.pi * t, 1.0
    nothing = jaxsim.Info(jnp.ones(40, bool), jnp.zeros(40), jnp.zeros(40, int))
    return jaxsim.Trajectory(q, np.zeros((41, 4)), t, None, nothing, None)


@pytest.fixture(scope="module")
def page(model, trajectory, tmp_path_factory):
    return viz.save_html(model, trajectory, tmp_path_factory.mktemp("page") / "run.html", title="A <double> pendulum")


def test_the_page_needs_nothing_from_elsewhere(page):
    text = page.read_text(encoding="utf-8")
    assert len(text) < 1_000_000
    assert "<title>A &lt;double&gt; pendulum</title>" in text
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=", text)
    assert not re.search(r"\bfrom\s*[\"']https?:", text)


def test_a_browser_plays_the_page(model, trajectory, page, tmp_path):
    """Playing advances the time, pausing stops it, and the slider moves the bodies where kinematics says they are."""
    found = evaluate(
        page,
        tmp_path,
        """
        const wait = (ms) => new Promise((done) => setTimeout(done, ms));
        const before = player.time;
        for (let i = 0; i < 50 && player.time <= before; i++) await new Promise(requestAnimationFrame);
        const after = player.time;
        document.getElementById("play").click();
        const paused = player.time;
        await wait(100);
        const still = player.time;
        const scrub = document.getElementById("scrub");
        scrub.value = 0.525;
        scrub.dispatchEvent(new Event("input"));
        const at = (body) => ({ position: body.position.toArray(), quaternion: body.quaternion.toArray() });
        const label = document.getElementById("time").textContent, failed = !!document.getElementById("failure");
        return { before, after, paused, still, frames: player.frames, label, failed, bodies: player.bodies.map(at) };
        """,
    )
    assert not found["failed"]
    assert found["after"] > found["before"]
    assert found["still"] == found["paused"]
    assert (found["frames"], found["label"]) == (41, "0.53 / 2.00 s")
    where = jaxsim.forward_kinematics(model, jnp.asarray(trajectory.q[0]).at[0].set(np.pi * 0.525))
    shown = np.array([body["position"] for body in found["bodies"]])
    np.testing.assert_allclose(shown[1], where.position[1], atol=1e-6)
    # between frames positions run along chords
    np.testing.assert_allclose(shown[2], where.position[2], atol=0.01)
    x, y, z, w = found["bodies"][1]["quaternion"]
    np.testing.assert_allclose([w, x, y, z], [np.cos(np.pi * 0.2625), 0, np.sin(np.pi * 0.2625), 0], atol=1e-5)


def test_the_picture_shows_the_robot(page, tmp_path):
    Image = pytest.importorskip("PIL.Image")
    picture = np.asarray(Image.open(screenshot(page, tmp_path)).convert("RGB")).astype(int)[40:540]
    orange = (picture[..., 0] > picture[..., 2] + 60) & (picture[..., 0] > 100)
    green = (picture[..., 1] > picture[..., 0] + 30) & (picture[..., 1] > picture[..., 2] + 20)
    assert orange.sum() > 300
    assert green.sum() > 300


def test_a_live_picture_follows_what_it_is_sent(model, tmp_path):
    viewer = viz.Viewer(model)
    page = tmp_path / "live.html"
    q = jnp.asarray(model.neutral()).at[0].set(1.0)
    page.write_text(f"<html><body>{viewer._repr_html_()}</body></html>", encoding="utf-8")
    script = viewer.message(q).removeprefix("<script>").removesuffix("</script>")
    found = evaluate(
        page,
        tmp_path,
        f"""
        const inner = () => document.querySelector("iframe").contentWindow.player;
        while (!(inner() && inner().ready)) await new Promise((done) => setTimeout(done, 20));
        {script};
        await new Promise((done) => setTimeout(done, 100));
        return inner().bodies[2].position.toArray();
        """,
        ready="true",
    )
    np.testing.assert_allclose(found, jaxsim.forward_kinematics(model, q).position[2], atol=1e-5)


def test_a_mechanism_is_drawn_where_its_bodies_are(model, tmp_path):
    """With the model's shapes or its own, a mechanism puts every vertex where the model does."""
    mechanism = jaxsim.Mechanism.from_model(model)
    q = jaxsim.random_configuration(model, jax.random.key(0))
    there, _ = jaxsim.to_maximal(model, q, jnp.zeros(model.nv))
    worn = viz.scene.parts_of(mechanism, appearance=model)
    own = viz.scene.parts_of(model)
    ahead, behind = viz.scene.motion_of(mechanism, there[None]), viz.scene.motion_of(model, q[None])
    for a, b in zip(worn, own, strict=True):
        for part, motion in ((a, ahead), (b, behind)):
            assert part.solid.faces.max() < len(part.solid.vertices)
            assert motion.position.shape[1] > part.body
        np.testing.assert_allclose(_world(a, ahead), _world(b, behind), atol=1e-12)
    assert viz.save_html(mechanism, there[None], tmp_path / "still.html").stat().st_size > 500_000
    assert {part.body for part in viz.scene.parts_of(mechanism)} == {0, 1}


def _world(part, motion):
    R = viz.scene.rotation_matrices(motion.quaternion[0, part.body])
    return part.solid.vertices @ R.T + motion.position[0, part.body]


def test_what_a_page_refuses(model, trajectory, tmp_path):
    batch = dataclasses.replace(trajectory, q=np.zeros((3, 41, 5)))
    with pytest.raises(ValueError, match="without a batch axis"):
        viz.save_html(model, batch, tmp_path / "no.html")
    broken = dataclasses.replace(trajectory, q=np.full((41, 5), np.nan))
    with pytest.raises(ValueError, match="not finite"):
        viz.save_html(model, broken, tmp_path / "no.html")
    with pytest.raises(ValueError, match="no neutral configuration"):
        viz.Viewer(jaxsim.Mechanism.from_model(model))
