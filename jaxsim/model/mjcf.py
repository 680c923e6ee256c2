"""Models from MJCF files, converted from what the ``mujoco`` package compiles them to.

Defaults, includes, ``fromto``, inertias from shapes and all angle conventions are MuJoCo's own work.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .builder import ModelBuilder
from .links import Assembly
from .mjcf_bodies import Bodies
from .mjcf_controls import add_actuators, add_keyframes, add_loops
from .mjcf_survey import survey
from .model import Model
from .report import Report
from .safe_xml import Source, parse, read_source


def load_mjcf(
    path_or_text: str | Path,
    floating: bool | None = None,
    merge_fixed: bool = True,
    *,
    strict: bool = True,
    dtype=None,
) -> Model:
    """The model of an MJCF file or of MJCF text. It needs the ``mujoco`` package (extra ``peers``).

    A body's frame has its origin on the axis of its last joint. Where the file puts the body's origin elsewhere, the
    file's frame is among ``model.frames`` under the body's name. Of several joints on one body all but the last move
    massless bodies named ``body/joint``. The configuration MuJoCo starts from is the keyframe ``"qpos0"``.

    Args:
        path_or_text: a path, or the XML itself.
        floating: ``True`` gives the root body a free joint, ``False`` fixes free roots to the world where they start,
            ``None`` does what the file says.
        merge_fixed: whether bodies without joints become part of their parents. They stay known by name in
            ``model.frames``.
        strict: whether what is unsupported and changes the physics is an error; ``False`` makes it a warning.
        dtype: the floating-point type of the leaves, JAX's default if ``None``.

    Raises:
        ImportError: if ``mujoco`` is missing.
        ValueError: one that lists everything that is wrong with the file or not supported.
    """
    source = read_source(path_or_text)
    root = parse(source)
    if root.tag != "mujoco":
        raise ValueError(f"{source.name}: the root element is <{root.tag}>, but an MJCF begins with <mujoco>.")
    return mjcf_model(source, floating, merge_fixed, strict, dtype)


def mjcf_model(source: Source, floating, merge_fixed, strict, dtype) -> Model:
    """The model of a source that has been read."""
    mujoco = _mujoco()
    compiled = _compile(mujoco, source)
    report = Report(source.name, strict)
    survey(mujoco, compiled, report)
    report.raise_errors()
    bodies = Bodies(mujoco, compiled, report, floating, source.directory)
    report.raise_errors()
    assembly = Assembly(bodies.links, merge_fixed)
    assembly.check(report, {})
    report.raise_errors()
    no_gravity = compiled.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    try:
        builder = ModelBuilder(np.zeros(3) if no_gravity else compiled.opt.gravity, check_inertias=False)
        assembly.fill(builder)
        add_loops(mujoco, compiled, bodies, assembly, builder)
        add_actuators(mujoco, compiled, bodies, builder)
        add_keyframes(compiled, bodies, builder)
        model = builder.build(dtype, strict)
    except ValueError as error:
        raise ValueError(f"{source.name}: {error}") from None
    report.warn()
    return model


def _mujoco() -> Any:
    try:
        import mujoco
    except ImportError:
        raise ImportError(
            "MJCF files are compiled by the mujoco package, which is missing; install it with "
            'pip install "jaxsim-vi[peers]".'
        ) from None
    return mujoco


def _compile(mujoco, source: Source):
    try:
        if source.path is not None:
            return mujoco.MjModel.from_xml_path(str(source.path))
        return mujoco.MjModel.from_xml_string(source.data.decode("utf-8"))
    except ValueError as error:
        raise ValueError(f"{source.name}: MuJoCo does not compile it: {str(error).strip()}") from None
