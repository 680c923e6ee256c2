"""The bodies and joints of a compiled MuJoCo model, as links.

MuJoCo turns a body by its joints one after the other, each about an anchor in the body's own frame. Our joints act at
the origin of a frame, so a link's frame has its origin at the anchor p of the last joint: the file's frame of the body
is translated by −p in it. A joint's reference angle is absorbed in its placement, so that configurations are the same.
"""

from __future__ import annotations

import numpy as np

from ..joints import AbstractJoint, Free, Prismatic, Revolute, Spherical
from .body_inertia import BodyInertia
from .coupling import Follower
from .links import WORLD, Link
from .mjcf_shapes import shapes_of
from .placement import Placement
from .report import Report

_Move = tuple[AbstractJoint | None, str, Placement, dict]
"""A joint, its name, where it stands and the data of its coordinates."""


class Bodies:
    """The links of a compiled model, and where MuJoCo's bodies and joints went.

    Attributes:
        links: all links, parents first.
        names: the names of MuJoCo's bodies; unnamed ones are called after their number.
        frames: for each of MuJoCo's bodies, where the file's frame stands in the frame of its link.
        joint_links: for each of MuJoCo's joints, the name of the link it moves; ``None`` if it was fixed.
        followers: MuJoCo's joints that follow others.
        freed: MuJoCo's body that was given a free joint, or −1.
    """

    def __init__(
        self,
        mujoco,
        compiled,
        report: Report,
        floating: bool | None,
        directory: str | None,
        followers: dict[int, Follower],
    ):
        self.mujoco, self.compiled, self.report, self.followers = mujoco, compiled, report, followers
        self.names = [WORLD, *unique_names(mujoco, compiled, "body")[1:]]
        self.joint_names = unique_names(mujoco, compiled, "joint")
        self.site_names = self._site_names()
        self.links: list[Link] = []
        self.frames = [Placement()]
        self.joint_links: list[str | None] = [None] * compiled.njnt
        self.freed = self._root_to_free() if floating is True else -1
        world = Link(WORLD, "", None, "", shapes=shapes_of(mujoco, compiled, 0, report, directory))
        self._add_sites(world, 0, Placement())
        self.links.append(world)
        for body in range(1, compiled.nbody):
            self._add_body(body, floating, directory)

    def link_of(self, joint: int) -> str:
        """The link that one of MuJoCo's joints moves; the joint must not be free, for free ones may have been fixed."""
        link = self.joint_links[joint]
        assert link is not None
        return link

    def _add_body(self, body: int, floating: bool | None, directory: str | None) -> None:
        m, name = self.compiled, self.names[body]
        above = int(m.body_parentid[body])
        parent = self.names[above]
        stand = self.frames[above] @ Placement(tuple(m.body_pos[body]), m.body_quat[body])
        joints = range(m.body_jntadr[body], m.body_jntadr[body] + m.body_jntnum[body])
        if floating is False and any(m.jnt_type[j] == self.mujoco.mjtJoint.mjJNT_FREE for j in joints):
            joints = range(0)
        moves: list[_Move] = []
        for j in joints:
            joint, before, after = self._joint(j)
            start = Placement() if isinstance(joint, Free) else stand @ before
            moves.append((joint, self.joint_names[j], start, self._coordinates(j)))
            stand = after
        if body == self.freed:
            moves.append((Free(), "root_joint", Placement(), {}))
            stand = Placement()
        if not moves:
            moves.append((None, f"{name}_joint", stand, {}))
            stand = Placement()
        for step, (joint, joint_name, start, data) in enumerate(moves):
            link_name = name if step == len(moves) - 1 else f"{name}/{joint_name}"
            self.links.append(Link(link_name, parent, joint, joint_name, start, coordinates=data))
            if joints and body != self.freed:
                self.joint_links[joints[step]] = link_name
            parent = link_name
        self._load(self.links[-1], body, stand, directory)

    def _load(self, link: Link, body: int, stand: Placement, directory: str | None) -> None:
        """Put on a link what the body carries; the file's frame stands at ``stand`` in the link's."""
        m = self.compiled
        self.frames.append(stand)
        if any(stand.position):
            link.frames.append((link.name, stand))
        if m.body_mass[body] or np.any(m.body_inertia[body]):
            principal = BodyInertia(float(m.body_mass[body]), inertia=tuple(m.body_inertia[body]))
            link.inertia = principal.moved(stand @ Placement(tuple(m.body_ipos[body]), m.body_iquat[body]))
        link.shapes = shapes_of(self.mujoco, m, body, self.report, directory, stand)
        self._add_sites(link, body, stand)

    def _add_sites(self, link: Link, body: int, stand: Placement) -> None:
        m = self.compiled
        for site in np.flatnonzero(m.site_bodyid == body):
            place = stand @ Placement(tuple(m.site_pos[site]), m.site_quat[site])
            link.frames.append((self.site_names[site], place))

    def _site_names(self) -> list[str]:
        """The names of the sites; those with the name of a body get another one, for frames and bodies share names."""
        names = unique_names(self.mujoco, self.compiled, "site")
        taken = {*self.names, *names}
        renamed = []
        for i, name in enumerate(names):
            if name in self.names:
                while names[i] in taken:
                    names[i] += "_site"
                taken.add(names[i])
                renamed.append(f"{name!r} is {names[i]!r}")
        if renamed:
            self.report.note(f"Sites that have the name of a body are renamed: {', '.join(renamed)}.")
        return names

    def _joint(self, j: int) -> tuple[AbstractJoint, Placement, Placement]:
        """The joint, where it stands in the frame before it, and where the frame after it stands in its child's."""
        m, kinds = self.compiled, self.mujoco.mjtJoint
        kind, axis, anchor = m.jnt_type[j], np.array(m.jnt_axis[j]), np.array(m.jnt_pos[j])
        if kind == kinds.mjJNT_FREE:
            return Free(), Placement(), Placement()
        if kind == kinds.mjJNT_BALL:
            return Spherical(), Placement(tuple(anchor)), Placement(tuple(-anchor))
        reference = float(m.qpos0[m.jnt_qposadr[j]])
        if kind == kinds.mjJNT_SLIDE:
            return Prismatic(axis), Placement(tuple(-reference * axis)), Placement()
        turned = Placement(tuple(anchor), np.array([np.cos(reference / 2), *(-np.sin(reference / 2) * axis)]))
        return Revolute(axis), turned, Placement(tuple(-anchor))

    def _coordinates(self, j: int) -> dict:
        """Springs, dampers, rotors, friction and limits of a joint, in our order of velocities."""
        m, bits = self.compiled, self.mujoco.mjtDisableBit
        kind, free = m.jnt_type[j], m.jnt_type[j] == self.mujoco.mjtJoint.mjJNT_FREE
        size = {0: (7, 6), 1: (4, 3)}.get(int(kind), (1, 1))
        dofs = m.jnt_dofadr[j] + (np.array([3, 4, 5, 0, 1, 2]) if free else np.arange(size[1]))
        q = slice(m.jnt_qposadr[j], m.jnt_qposadr[j] + size[0])
        springs, dampers = (not m.opt.disableflags & bit for bit in (bits.mjDSBL_SPRING, bits.mjDSBL_DAMPER))
        data = {
            "stiffness": float(m.jnt_stiffness[j]) * springs,
            "spring_reference": np.array(m.qpos_spring[q]),
            "damping": np.array(m.dof_damping[dofs]) * dampers,
            "armature": np.array(m.dof_armature[dofs]),
            "friction": np.array(m.dof_frictionloss[dofs]),
        }
        if m.jnt_limited[j] and size[0] == 1:
            data["lower"], data["upper"] = m.jnt_range[j]
        if m.jnt_actfrclimited[j]:
            data["effort_limit"] = float(np.abs(m.jnt_actfrcrange[j]).max())
        return data

    def _root_to_free(self) -> int:
        """The body that ``floating=True`` frees, −1 if it is free already."""
        m = self.compiled
        tops = [body for body in range(1, m.nbody) if m.body_parentid[body] == 0]
        moving = {int(m.body_rootid[m.dof_bodyid[dof]]) for dof in range(m.nv)}
        roots = [body for body in tops if body in moving] or tops
        if len(roots) != 1:
            names = ", ".join(repr(self.names[body]) for body in roots) or "none"
            self.report.error(f"floating=True needs one root body, but the file has {names}; free them in the file.")
            return -1
        (root,) = roots
        first = m.body_jntadr[root]
        if m.body_jntnum[root] == 0:
            return root
        if m.jnt_type[first] != self.mujoco.mjtJoint.mjJNT_FREE:
            self.report.error(
                f"floating=True cannot free the body {self.names[root]!r}, which already has the joint "
                f"{self.joint_names[first]!r}; replace that joint in the file."
            )
        return -1


def unique_names(mujoco, compiled, kind: str) -> list[str]:
    """The names of all objects of a kind; unnamed ones are called after their kind and number."""
    counts = {
        "body": "nbody",
        "joint": "njnt",
        "site": "nsite",
        "tendon": "ntendon",
        "actuator": "nu",
        "key": "nkey",
        "equality": "neq",
    }
    objects = getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
    given = [mujoco.mj_id2name(compiled, objects, i) for i in range(getattr(compiled, counts[kind]))]
    names = []
    for i, name in enumerate(given):
        candidate = name or f"{kind}{i}"
        while not name and candidate in given:
            candidate += "_"
        names.append(candidate)
    return names
