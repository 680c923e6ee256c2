"""Pytrees of modules in npz files: the arrays by name, and a line of JSON that says how they belong together.

Nothing is pickled: reading a file runs no code from it.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import sys
import zipfile
from os import PathLike
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

_STRUCTURE = "structure"


def save(path: str | PathLike, tree: Any) -> None:
    """Write dataclasses, tuples, dictionaries, numbers and arrays to a file that ``load`` reads."""
    arrays: dict[str, np.ndarray] = {}
    structure = _take_apart(tree, "", arrays)
    with open(path, "wb") as file:
        np.savez_compressed(file, **{_STRUCTURE: np.asarray(json.dumps(structure))}, **arrays)  # pyright: ignore


def load(path: str | PathLike) -> Any:
    """What ``save`` wrote."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return _put_together(json.loads(str(file[_STRUCTURE])), file)
    except (KeyError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is not a saved trajectory ({error}); give a file that save wrote.") from None


def _take_apart(value: Any, name: str, arrays: dict[str, np.ndarray]) -> Any:
    def parts(items):
        return {str(key): _take_apart(part, f"{name}.{key}".lstrip("."), arrays) for key, part in items}

    if value is None or isinstance(value, bool | int | float | str):
        return {"value": value}
    if isinstance(value, jax.Array | np.ndarray | np.generic):
        arrays[name or "array"] = np.asarray(value)
        return {"array": name or "array"}
    if isinstance(value, tuple | list):
        return {"sequence": type(value).__name__, "of": parts(enumerate(value))}
    if isinstance(value, dict):
        return {"dict": parts(value.items())}
    if dataclasses.is_dataclass(value):
        kind = type(value)
        fields = [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
        return {"class": [kind.__module__, kind.__qualname__], "fields": parts(fields)}
    raise TypeError(f"{name} is a {type(value).__name__}, which an npz file cannot hold; use arrays and dataclasses.")


def _put_together(structure: dict, file) -> Any:
    def parts(items: dict):
        return {key: _put_together(part, file) for key, part in items.items()}

    if "value" in structure:
        return structure["value"]
    if "array" in structure:
        return jnp.asarray(file[structure["array"]])
    if "sequence" in structure:
        return {"tuple": tuple, "list": list}[structure["sequence"]](parts(structure["of"]).values())
    if "dict" in structure:
        return parts(structure["dict"])
    return _known_class(*structure["class"])(**parts(structure["fields"]))


def _known_class(module: str, name: str) -> Any:
    """A dataclass of this package or of a module that the program has imported itself."""
    if module.split(".")[0] == __name__.split(".")[0]:
        importlib.import_module(module)
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if not (isinstance(found, type) and dataclasses.is_dataclass(found)):
        raise ValueError(f"the class {name} of {module} is not known here: import {module} first")
    return found
