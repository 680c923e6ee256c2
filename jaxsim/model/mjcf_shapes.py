"""The shapes of a compiled MuJoCo model."""

from __future__ import annotations

import numpy as np

from .geometry import Mesh, PlacedShape, Shape, placed_shape
from .placement import Placement
from .report import Report

_VISIBLE_GROUPS = 3
"""MuJoCo draws the geoms of groups 0, 1 and 2 unless told otherwise."""


def shapes_of(
    mujoco, compiled, body: int, report: Report, directory: str | None, stand: Placement | None = None
) -> list[PlacedShape]:
    """The shapes of one of MuJoCo's bodies, whose own frame stands at ``stand`` in that of its link."""
    m, stand = compiled, stand or Placement()
    shapes = []
    for geom in range(m.body_geomadr[body], m.body_geomadr[body] + m.body_geomnum[body]):
        placement = stand @ Placement(tuple(m.geom_pos[geom]), m.geom_quat[geom])
        kind, size = _kind_and_size(mujoco, m, geom)
        mesh = None
        if kind == "mesh":
            mesh, placement = _mesh(m, geom, directory, placement)
        if not kind or (kind == "mesh" and mesh is None):
            report.left_out("geometry that is neither a primitive nor a mesh file")
            continue
        name = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_GEOM, geom) or ""
        rgba = m.mat_rgba[m.geom_matid[geom]] if m.geom_matid[geom] >= 0 else m.geom_rgba[geom]
        collides = bool(m.geom_contype[geom] or m.geom_conaffinity[geom])
        drawn = bool(m.geom_group[geom] < _VISIBLE_GROUPS)
        r, g, b, a = (float(channel) for channel in rgba)
        shapes.append(placed_shape(Shape(kind, 0, name, drawn, collides, (r, g, b, a), mesh), size, placement))
    return shapes


def _kind_and_size(mujoco, m, geom: int) -> tuple[str, np.ndarray]:
    """The kind of a geom and its size; MuJoCo gives half lengths."""
    kinds, size = mujoco.mjtGeom, np.array(m.geom_size[geom])
    if m.geom_type[geom] == kinds.mjGEOM_MESH:
        return "mesh", np.array(m.mesh_scale[m.geom_dataid[geom]])
    return {
        int(kinds.mjGEOM_PLANE): ("plane", np.zeros(0)),
        int(kinds.mjGEOM_SPHERE): ("sphere", size[:1]),
        int(kinds.mjGEOM_CAPSULE): ("capsule", size[:2] * [1, 2]),
        int(kinds.mjGEOM_CYLINDER): ("cylinder", size[:2] * [1, 2]),
        int(kinds.mjGEOM_ELLIPSOID): ("ellipsoid", size),
        int(kinds.mjGEOM_BOX): ("box", 2 * size),
    }.get(int(m.geom_type[geom]), ("", np.zeros(0)))


def _mesh(m, geom: int, directory: str | None, placement: Placement) -> tuple[Mesh | None, Placement]:
    """The file of a mesh and where the file's frame stands; MuJoCo moves meshes to their centre and principal axes."""
    data = m.geom_dataid[geom]
    start = int(m.mesh_pathadr[data])
    if start < 0:
        return None, placement
    path = bytes(m.paths)[start:].split(b"\0", 1)[0].decode("utf-8", "replace")
    centred = Placement(tuple(m.mesh_pos[data]), m.mesh_quat[data])
    return Mesh(path, directory), placement @ centred.inverse()
