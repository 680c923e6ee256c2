"""Shared by all tests: double precision, and a compiler that is in a hurry and remembers what it has compiled."""

import os
from pathlib import Path

import jaxlib

# Compiling takes most of the time of a test, and these flags save three quarters of it. XLA aborts on a flag that it
# does not know, hence only for versions that are known to have them.
if jaxlib.__version__.startswith("0.10."):
    _QUICK = (
        "--xla_cpu_use_fusion_emitters=false",
        "--xla_backend_optimization_level=0",
        "--xla_cpu_parallel_codegen_split_count=1",
    )
    os.environ["XLA_FLAGS"] = " ".join((*_QUICK, os.environ.get("XLA_FLAGS", ""))).strip()

import jax
import pytest

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_compilation_cache_dir", str(Path(__file__).parents[1] / ".pytest_cache" / "compiled"))
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.3)


@pytest.fixture(scope="module", autouse=True)
def _forget():
    """Compiled code would add up to gigabytes over all modules; what is needed again comes from the disk."""
    yield
    jax.clear_caches()
