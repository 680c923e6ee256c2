"""Refusing joints that can move without moving any mass, whose acceleration no force would determine."""

from __future__ import annotations

import jax
import numpy as np

from ..joints import AbstractJoint, Components
from .body_inertia import BodyInertia

_SMALLEST = 1e-13
"""The smallest share of its scale that an inertia may have; a rod of 1 m may be as thin as 1 µm."""


def moves_mass(joint: AbstractJoint, body: BodyInertia, armature: np.ndarray) -> bool:
    """Whether Sᵀ I S + diag(armature), the mass matrix of one body on its joint, is positive definite.

    It is evaluated at rest and, where that is a singular configuration of the joint, at another one.
    """
    if joint.nv == 0:
        return True
    mass, (x, y, z) = body.mass, body.com
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    about_origin = body.matrix - mass * cross @ cross
    I = np.block([[about_origin, mass * cross], [-mass * cross, mass * np.eye(3)]])
    size = np.diag(np.repeat(np.array([np.linalg.norm(about_origin, 2), mass]), 3))

    def definite(q: Components) -> bool:
        S = np.stack([np.asarray(column.to_array(), float) for column in joint.subspace(q)], axis=-1)
        M, scale = S.T @ I @ S + np.diag(armature), np.diag(S.T @ size @ S) + armature
        root = np.sqrt(np.diag(M).clip(min=0.0))
        if np.any(np.diag(M) <= _SMALLEST * scale):
            return False
        return bool(np.linalg.eigvalsh(M / np.outer(root, root))[0] > _SMALLEST)

    return definite(joint.neutral()) or definite(joint.random(jax.random.key(0)))
