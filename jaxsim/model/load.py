"""The front door for model files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .mjcf import mjcf_model
from .model import Model
from .safe_xml import parse, read_source
from .urdf import urdf_model


def load(
    path_or_text: str | Path,
    floating: bool | None = None,
    merge_fixed: bool = True,
    package_dirs: Sequence[str | Path] = (),
    *,
    strict: bool = True,
    dtype=None,
) -> Model:
    """The model of a URDF or an MJCF file, or of such a text; the root element says which it is.

    Args:
        path_or_text: a path, or the XML itself.
        floating: ``True`` gives the root a free joint, ``False`` fixes it to the world, ``None`` does what the file
            says.
        merge_fixed: whether links that are fixed to their parents become part of them; they stay known by name in
            ``model.frames``.
        package_dirs: where ``package://`` references of meshes are looked for, when meshes are asked for.
        strict: whether what is unsupported or impossible and changes the physics is an error; ``False`` makes it a
            warning.
        dtype: the floating-point type of the leaves, JAX's default if ``None``.

    Raises:
        ValueError: one that lists everything that is wrong with the file or not supported.
    """
    source = read_source(path_or_text)
    root = parse(source)
    if root.tag == "robot":
        return urdf_model(source, floating, merge_fixed, package_dirs, strict, dtype, root)
    if root.tag == "mujoco":
        return mjcf_model(source, floating, merge_fixed, strict, dtype)
    raise ValueError(
        f"{source.name} begins with <{root.tag}>; jaxsim loads URDF, which begins with <robot>, and MJCF, which begins "
        "with <mujoco>."
    )
