"""The same model in Pinocchio, built joint by joint from the leaves of ours.

Pinocchio wants bodies depth first, merges fixed bodies into their parents, orders spatial vectors (linear, angular) and
quaternions xyzw. The twin keeps the permutations, so that tests and benchmarks speak our order only.
"""

from __future__ import annotations

import dataclasses

import jax
import numpy as np
import pinocchio as pin

import jaxsim
from jaxsim.joints import AbstractJoint

SWAP = np.array([3, 4, 5, 0, 1, 2])
"""From (angular, linear) to (linear, angular) and back."""


@dataclasses.dataclass
class Twin:
    """A model and its double.

    Attributes:
        ours: our model.
        model: Pinocchio's.
        data: its workspace.
        joint: for each of our bodies, the joint of Pinocchio that carries it, and
        offset: the pose of the body in that joint's frame (the identity unless the body is fixed).
        q_order: our indices of q in Pinocchio's order, and
        v_order: those of v.
    """

    ours: jaxsim.Model
    model: pin.Model
    data: pin.Data
    joint: list[int]
    offset: list[pin.SE3]
    q_order: np.ndarray
    v_order: np.ndarray

    def q(self, q) -> np.ndarray:
        """Our configuration in Pinocchio's order; extra leading axes are batches."""
        return np.asarray(q, float)[..., self.q_order]

    def v(self, v) -> np.ndarray:
        """Our velocity, acceleration or joint forces in Pinocchio's order."""
        return np.asarray(v, float)[..., self.v_order]

    def from_v(self, v) -> np.ndarray:
        """Pinocchio's velocity, acceleration or joint forces in our order, along the last axis."""
        return np.asarray(v)[..., np.argsort(self.v_order)]

    def from_matrix(self, M) -> np.ndarray:
        """Pinocchio's (nv, nv) matrix in our order."""
        back = np.argsort(self.v_order)
        return np.asarray(M)[np.ix_(back, back)]

    def forces(self, f_ext) -> pin.StdVec_Force:
        """Our external wrenches, one a body in its frame, as Pinocchio's, one a joint in its frame."""
        total = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for body in range(1, self.ours.num_bodies):
            total[self.joint[body]] += self.offset[body] * pin.Force(np.asarray(f_ext[body], float)[SWAP])
        result = pin.StdVec_Force()
        result.extend(total)
        return result


def twin(ours: jaxsim.Model) -> Twin:
    """Build the double of a model whose joints all exist in Pinocchio."""
    model = pin.Model()
    model.gravity.linear = np.asarray(ours.gravity, float)
    joint, offset = [0] * ours.num_bodies, [pin.SE3.Identity()] * ours.num_bodies
    kinds = _joints(ours)
    q_order: list[int] = []
    v_order: list[int] = []
    for body in ours.topology.visits.tolist():
        parent = ours.topology.parents[body]
        place = offset[parent] * pin.SE3(_rotation(ours.orientation[body]), np.asarray(ours.position[body], float))
        inertia = pin.Inertia(float(ours.mass[body]), np.asarray(ours.com[body]), np.asarray(ours.inertia[body]))
        if ours.topology.joint_nv[body] == 0:
            joint[body], offset[body] = joint[parent], place
        else:
            joint[body] = model.addJoint(joint[parent], _joint_model(kinds[body]), place, ours.joint_names[body])
            q, v = _coordinate_orders(kinds[body])
            q_order += [int(ours.topology.q_start[body]) + i for i in q]
            v_order += [int(ours.topology.v_start[body]) + i for i in v]
        model.appendBodyToJoint(joint[body], inertia, offset[body])
    model.armature = np.asarray(ours.armature, float)[v_order]
    return Twin(ours, model, model.createData(), joint, offset, np.array(q_order), np.array(v_order))


def _joints(ours: jaxsim.Model) -> dict[int, AbstractJoint]:
    """The joint of each body, taken out of its stack."""
    return {
        body: jax.tree.map(lambda leaf, i=i: np.asarray(leaf[i], float), stacked)
        for stacked, bodies in zip(ours.joints, ours.topology.groups, strict=True)
        for i, body in enumerate(bodies)
    }


def _joint_model(joint: AbstractJoint):
    """Pinocchio's model of one of our joints; chains of joints become composites."""
    parts = joint.parts()
    if len(parts) > 1:
        composite = pin.JointModelComposite()
        for part in parts:
            composite.addJoint(_joint_model(part))
        return composite
    match joint:
        case jaxsim.Revolute():
            return pin.JointModelRevoluteUnaligned(_axis(joint))
        case jaxsim.Prismatic():
            return pin.JointModelPrismaticUnaligned(_axis(joint))
        case jaxsim.Helical():
            return pin.JointModelHelicalUnaligned(_axis(joint), float(joint.pitch))
        case jaxsim.Spherical():
            return pin.JointModelSpherical()
        case jaxsim.Free():
            return pin.JointModelFreeFlyer()
    raise NotImplementedError(f"Pinocchio has no joint like {joint!r}")


def _coordinate_orders(joint: AbstractJoint) -> tuple[list[int], list[int]]:
    """Which of our coordinates of a joint stand where Pinocchio expects its own."""
    q: list[int] = []
    v: list[int] = []
    for part in joint.parts():
        if isinstance(part, jaxsim.Free):
            own_q, own_v = [0, 1, 2, 4, 5, 6, 3], list(SWAP)
        elif isinstance(part, jaxsim.Spherical):
            own_q, own_v = [1, 2, 3, 0], [0, 1, 2]
        else:
            own_q, own_v = [0], [0]
        q, v = q + [len(q) + i for i in own_q], v + [len(v) + int(i) for i in own_v]
    return q, v


def _axis(joint) -> np.ndarray:
    axis = np.asarray(joint.axis, float)
    return axis / np.linalg.norm(axis)


def _rotation(quaternion) -> np.ndarray:
    w, x, y, z = np.asarray(quaternion, float)
    return pin.Quaternion(w, x, y, z).normalized().toRotationMatrix()
