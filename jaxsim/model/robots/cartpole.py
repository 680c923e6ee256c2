"""The cart-pole."""

from __future__ import annotations

from ...joints import Prismatic, Revolute
from ..builder import BodyInertia, ModelBuilder
from ..model import Model


def cartpole(cart_mass: float = 1.0, pole_mass: float = 0.1, pole_length: float = 1.0) -> Model:
    """A cart that slides along x with a pole that swings about y; q = (position, angle), the pole hangs at angle 0."""
    builder = ModelBuilder()
    cart = builder.add_body("cart", 0, Prismatic("x"), inertia=BodyInertia.box(cart_mass, (0.4, 0.3, 0.2)))
    builder.add_body("pole", cart, Revolute("y"), inertia=BodyInertia.rod(pole_mass, (0.0, 0.0, -pole_length), 0.02))
    return builder.build()
