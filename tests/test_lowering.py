"""Every public function and its gradient can be compiled for accelerators, in single precision, without the host."""

import re

import jax
import jax.numpy as jnp
import pytest
from jax import export

from tests.public_functions import DERIVATIVES, FUNCTIONS
from tests.samples import state, tiny_tree

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


CASES = {
    **FUNCTIONS,
    **{f"gradient of {name}": gradient(function) for name, function in FUNCTIONS.items()},
    **DERIVATIVES,
}


@pytest.mark.parametrize("name", CASES)
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
        for inner in jax.core.jaxprs_in_params(equation.params):
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
