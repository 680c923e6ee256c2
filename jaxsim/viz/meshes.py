"""Mesh files as triangles, with few enough of them for a page."""

from __future__ import annotations

import numpy as np

from ..model.geometry import Mesh
from .solids import Solid


def read_mesh(mesh: Mesh, scale, most_faces: int = 6000) -> Solid:
    """The triangles of a mesh file (STL, OBJ, DAE, …), in metres, coarsened if there are too many."""
    try:
        import trimesh
    except ImportError:
        raise ImportError('Mesh files are read by trimesh: pip install "jaxsim-vi[viz]".') from None
    loaded = trimesh.load(mesh.path(), force="mesh", process=False)
    vertices = np.asarray(loaded.vertices, float) * np.asarray(scale, float)  # pyright: ignore
    return coarsened(Solid(vertices, np.asarray(loaded.faces, int)), most_faces)  # pyright: ignore


def coarsened(solid: Solid, most_faces: int) -> Solid:
    """At most so many faces, by merging vertices in the cells of a grid (Rossignac and Borrel 1993)."""
    cells = 256
    while len(solid.faces) > most_faces and cells > 4:
        low, extent = solid.vertices.min(axis=0), max(float(np.ptp(solid.vertices, axis=0).max()), 1e-9)
        _, first, index = np.unique(
            np.floor((solid.vertices - low) / extent * cells).astype(int),
            axis=0,
            return_index=True,
            return_inverse=True,
        )
        faces = index.reshape(-1)[solid.faces]
        whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
        solid, cells = Solid(solid.vertices[first], faces[whole]), cells // 2
    return solid
