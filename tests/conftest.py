"""Shared by all tests: double precision, and a compiler that is in a hurry and remembers what it has compiled."""

import gc
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


_ENOUGH = 5 * 2**30
"""Bytes of a process of tests beyond which compiled code is forgotten."""


@pytest.fixture(scope="module", autouse=True)
def _forget():
    """Compiled code is kept for the next modules, which need most of the small pieces again, until it fills memory."""
    yield
    if _resident() > _ENOUGH:
        gc.unfreeze()  # or what is forgotten here would never be freed
        jax.clear_caches()
    # what stays need not be searched for garbage again and again
    gc.collect()
    gc.freeze()


def _resident() -> float:
    """The bytes of memory in use, as far as the system tells."""
    pages = Path("/proc/self/statm")
    return float(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if pages.exists() else float("inf")
