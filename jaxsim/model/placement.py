"""Where one frame stands in another, as users and files give it."""

from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Placement:
    """Where a frame stands in its parent frame: a position and a rotation.

    The rotation is a quaternion wxyz or a 3×3 matrix.
    """

    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation: object = (1.0, 0.0, 0.0, 0.0)

    @staticmethod
    def from_rpy(position=(0.0, 0.0, 0.0), rpy=(0.0, 0.0, 0.0)) -> Placement:
        """From roll, pitch and yaw about fixed axes: R = Rz(yaw) Ry(pitch) Rx(roll)."""
        (cr, cp, cy), (sr, sp, sy) = np.cos(np.asarray(rpy) / 2), np.sin(np.asarray(rpy) / 2)
        quaternion = (
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        )
        return Placement(tuple(position), quaternion)

    @property
    def quaternion(self) -> np.ndarray:
        """The rotation as a unit quaternion wxyz."""
        return unit_quaternion(self.rotation, "a placement")

    @property
    def matrix(self) -> np.ndarray:
        """The rotation as a 3×3 matrix."""
        return rotation_matrix(self.quaternion)

    def point(self, x) -> np.ndarray:
        """A point of the frame in the parent frame: R x + p."""
        return self.matrix @ np.asarray(x, float) + np.asarray(self.position, float)

    def __matmul__(self, other: Placement) -> Placement:
        return Placement(tuple(self.point(other.position)), quaternion_product(self.quaternion, other.quaternion))

    def inverse(self) -> Placement:
        """Where the parent frame stands in this one: (Rᵀ, −Rᵀp)."""
        back = self.quaternion * np.array([1.0, -1.0, -1.0, -1.0])
        return Placement(tuple(-rotation_matrix(back) @ np.asarray(self.position, float)), back)


def placement_of(value) -> Placement:
    """A ``Placement`` from itself, from three numbers for a position, or the identity from ``None``."""
    if isinstance(value, Placement):
        return value
    return Placement() if value is None else Placement(tuple(value))


def finite_vector(value, size: int, what: str) -> np.ndarray:
    """``size`` finite numbers as an array, or one sentence that names what they are."""
    vector = np.asarray(value, dtype=float)
    if vector.shape != (size,) or not np.all(np.isfinite(vector)):
        raise ValueError(f"{what[0].upper() + what[1:]} is {value!r}; it must be {size} finite numbers.")
    return vector


def unit_quaternion(rotation, name: str) -> np.ndarray:
    """The unit quaternion of a quaternion of any length or of a rotation matrix."""
    array = np.asarray(rotation, dtype=float)
    if array.shape == (3, 3):
        if not np.allclose(array @ array.T, np.eye(3), atol=1e-6) or np.linalg.det(array) < 0:
            raise ValueError(f"The rotation of {name!r} is not a rotation matrix: {rotation!r}.")
        return _quaternion_from_matrix(array)
    length = np.linalg.norm(array) if array.shape == (4,) else 0.0
    if not np.isfinite(length) or length == 0.0:
        raise ValueError(f"The rotation of {name!r} is {rotation!r}; give a quaternion wxyz or a 3×3 rotation matrix.")
    return array / length


def quaternion_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The Hamilton product a ⊗ b."""
    w = a[0] * b[0] - a[1:] @ b[1:]
    return np.concatenate([[w], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])


def rotation_matrix(q: np.ndarray) -> np.ndarray:
    """R = 𝟙 + 2 w [u]× + 2 [u]×² of a unit quaternion (w, u)."""
    w, (x, y, z) = q[0], q[1:]
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2 * w * skew + 2 * skew @ skew


def _quaternion_from_matrix(R: np.ndarray) -> np.ndarray:
    """The eigenvector of the largest eigenvalue of Bar-Itzhack's matrix (2000, eq. 2), sharp at every angle."""
    K = np.array(
        [
            [np.trace(R), R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [0, R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [0, 0, R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1]],
            [0, 0, 0, R[2, 2] - R[0, 0] - R[1, 1]],
        ]
    )
    quaternion = np.linalg.eigh(K, UPLO="U")[1][:, -1]
    return quaternion if quaternion[0] >= 0 else -quaternion
