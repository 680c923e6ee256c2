"""A differentiable rigid-body physics engine."""
