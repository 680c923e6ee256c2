"""Every public function and its gradient can be compiled for accelerators, in single precision, without the host."""

import re

import jax
import jax.extend
import jax.numpy as jnp
import pytest
from jax import export

import jaxsim
from tests.public_functions import DERIVATIVES, FUNCTIONS, STEP
from tests.samples import Sample, state, tiny_tree

PLATFORMS = ("cuda", "tpu")


def lowered(function, *args) -> str:
    """The MLIR text of a function for all platforms; the module is not run."""
    return export.export(jax.jit(function), platforms=PLATFORMS)(*args).mlir_module()


def single():
    """A model and a state of single precision, as shapes."""
    model = tiny_tree()
    return jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, jnp.float32), (model, state(model)))


def gradient(function):
    def loss(model, sample):
        return sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(function(model, sample)))

    return jax.grad(loss, argnums=(0, 1))


def variational_step(order):
    method = jaxsim.Variational(STEP, order=order)

    def run(model, s: Sample):
        after, info = method.step(model, method.init(model, s.q, s.v), s.tau)
        return after.q, after.v, info.residual

    return run


def contact_step(model, s: Sample):
    """A box that touches the ground with the exact friction cone; the velocity of the sample drives it."""
    builder = jaxsim.MechanismBuilder()
    builder.add_box_on_plane(builder.add_body(1.0, (0.1, 0.1, 0.1)), (0.5, 0.5, 0.5), friction=0.5)
    mechanism = jax.tree.map(lambda x: x.astype(s.v.dtype), builder.build())
    method = jaxsim.MaximalVariational(STEP)
    pose = jnp.zeros((1, 7), s.v.dtype).at[0, 2].set(0.5).at[0, 3].set(1.0)
    after, info = method.step(mechanism, method.init(mechanism, pose, s.v[None, :6]))
    return after.q, after.v, info.residual


STEPS = {
    "variational step of order 2": variational_step(2),
    "variational step of order 4": variational_step(4),
    "maximal step with contact": contact_step,
}

CASES = {
    **FUNCTIONS,
    **{f"gradient of {name}": gradient(function) for name, function in FUNCTIONS.items()},
    **DERIVATIVES,
    **STEPS,
    **{f"gradient of {name}": gradient(step) for name, step in STEPS.items()},
}


QUICK = {f"gradient of {name}" for name in ("inverse_dynamics", "forward_dynamics", "mass_matrix", "integrate")}


def marked(name):
    """Tracing gradients takes longest: those of the functions that most people use are for the default run."""
    long = name.startswith("gradient of") and name not in QUICK
    return pytest.param(name, marks=pytest.mark.slow) if long else name


@pytest.mark.parametrize("name", [marked(name) for name in CASES])
def test_it_lowers_without_the_host_and_without_doubles(name):
    arguments = single()
    with jax.enable_x64(False):
        text = lowered(CASES[name], *arguments)
    assert "callback" not in text
    assert "f64" not in text
    assert re.search(r"stablehlo\.(add|multiply|while|concatenate|slice|subtract)", text)


def sweeps(jaxpr):
    """All scans of a jaxpr, those of inner jaxprs included."""
    for equation in jaxpr.eqns:
        if equation.primitive.name == "scan":
            yield equation
        for inner in jax.extend.core.jaxprs_in_params(equation.params):
            yield from sweeps(inner)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_double_enters_a_sweep_of_single_precision(name):
    """With double precision enabled, as users of both have it, a stray constant would slow down the whole sweep."""
    closed = jax.make_jaxpr(FUNCTIONS[name])(*single())
    for sweep in sweeps(closed.jaxpr):
        types = {var.aval.dtype for var in (*sweep.invars, *sweep.outvars) if var.aval.shape}
        assert jnp.dtype("float64") not in types


def test_a_callback_would_be_noticed():
    """The word that the test looks for is the one that a callback leaves behind."""

    def called(x):
        return jax.pure_callback(lambda x: x, jax.ShapeDtypeStruct((), jnp.float32), x)

    assert "callback" in jax.jit(called).lower(jnp.float32(0)).as_text()


def test_only_processors_take_a_batch_in_parts():
    """A loop over parts of the batch keeps the caches of a CPU busy, and would keep an accelerator idle."""
    model = jax.tree.map(lambda x: x.astype(jnp.float32), jaxsim.robots.pendulum(links=2))
    batch = jax.ShapeDtypeStruct((8192, 2), jnp.float32)
    run = jax.jit(jax.vmap(lambda q, v, tau: jaxsim.forward_dynamics(model, q, v, tau)))
    cpu, others = (
        export.export(run, platforms=platforms)(batch, batch, batch).mlir_module().count("stablehlo.while")
        for platforms in (("cpu",), PLATFORMS)
    )
    assert others == 3, "the sweeps of the articulated-body algorithm and no other loop"
    assert cpu == others + 1
