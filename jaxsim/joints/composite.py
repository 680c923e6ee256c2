"""Composite joint: any two joints, one after the other."""

from __future__ import annotations

from .base import AbstractJoint
from .chain import AbstractChain


class Composite(AbstractChain):
    """T = T₁(q₁) T₂(q₂) with q = (q₁, q₂) (Sueda, eqs. 2.53–2.58); composites of composites make longer chains."""

    first: AbstractJoint
    second: AbstractJoint

    def __init__(self, first: AbstractJoint, second: AbstractJoint):
        for joint in (first, second):
            if not isinstance(joint, AbstractJoint):
                raise TypeError(f"A composite is made of two joints, but {joint!r} is none; give joint objects.")
        self.first = first
        self.second = second

    def links(self) -> tuple[AbstractJoint, ...]:
        return self.first, self.second
