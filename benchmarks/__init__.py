"""One script a claim; run them from the root of the repository, as ``python -m benchmarks.dynamics``."""
