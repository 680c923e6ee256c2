"""The mass distribution of whole models, computed without the code under test."""

import numpy as np


def pseudo_inertia(mass: float, T: np.ndarray, J: np.ndarray) -> np.ndarray:
    """∫ (x, 1)(x, 1)ᵀ dm of a body with the inertia J about its centre of mass, which is the origin of T."""
    P = np.zeros((4, 4))
    P[:3, :3], P[3, 3] = np.trace(J) / 2 * np.eye(3) - J, mass
    return T @ P @ T.T


def total_pseudo_inertia(model, poses) -> np.ndarray:
    """That of all bodies of a model in given poses."""
    total = np.zeros((4, 4))
    for T, mass, com, J in zip(poses, *map(np.asarray, (model.mass, model.com, model.inertia)), strict=True):
        centre = np.eye(4)
        centre[:3, 3] = com
        total += pseudo_inertia(float(mass), T @ centre, J)
    return total
