"""Shared by all tests: double precision, and compiled code that is not kept on disk."""

import jax

jax.config.update("jax_enable_x64", True)
