"""The tendons of a compiled MuJoCo model, as far as they are linear in the coordinates of joints."""

from __future__ import annotations

import numpy as np


def fixed_tendon(mujoco, compiled, tendon: int) -> dict[int, float] | None:
    """The coefficients cⱼ of a fixed tendon, whose length is Σ cⱼ qⱼ, by MuJoCo's joints; ``None`` if it is spatial."""
    m = compiled
    coefficients: dict[int, float] = {}
    for wrap in range(m.tendon_adr[tendon], m.tendon_adr[tendon] + m.tendon_num[tendon]):
        if m.wrap_type[wrap] != mujoco.mjtWrap.mjWRAP_JOINT:
            return None
        joint = int(m.wrap_objid[wrap])
        coefficients[joint] = coefficients.get(joint, 0.0) + float(m.wrap_prm[wrap])
    return coefficients


def pulls(compiled, tendon: int) -> bool:
    """Whether a tendon does anything on its own, without actuators and equalities."""
    fields = ("stiffness", "stiffnesspoly", "damping", "dampingpoly", "frictionloss", "armature")
    fields += ("limited", "actfrclimited")
    none = np.zeros(compiled.ntendon)
    return any(np.any(getattr(compiled, f"tendon_{field}", none)[tendon]) for field in fields)
