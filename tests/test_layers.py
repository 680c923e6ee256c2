"""A file imports only from the layers above its own, so that every idea can be read without those built on it."""

import ast
from pathlib import Path

import pytest

import jaxsim

PACKAGE = Path(jaxsim.__file__).parent

LAYERS = (
    ("spatial",),
    ("joints",),
    ("model",),
    ("sweep",),
    ("dynamics",),
    ("forces",),
    ("solvers",),
    ("variational",),
    ("maximal",),
    ("reduced",),
    ("integrators",),
    ("rollout",),
    ("system",),
    ("identification",),
    ("optimal",),
    # these stand side by side: none of them imports another, save the command line, which may use all
    ("envs",),
    ("viz",),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

BESIDE = {"interop": "dynamics"}
"""Modules that stand beside a layer: they import what it may import, and no layer imports them."""

TOP = ("__init__", "__main__", "cli", "demo")
"""Modules that may import everything and that nobody imports."""


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_parts(path: Path) -> set[str]:
    """The first names under ``jaxsim`` that a file imports, wherever in the file it does."""
    package = ("jaxsim", *path.relative_to(PACKAGE).parent.parts)
    parts = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules = [name.name.split(".") for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            base += node.module.split(".") if node.module else []
            modules = [[*base, name.name] for name in node.names]
        else:
            continue
        parts |= {module[1] for module in modules if module[0] == "jaxsim" and len(module) > 1}
    return parts


FILES = sorted(path for path in PACKAGE.rglob("*.py") if part_of(path) not in TOP)


def test_every_file_belongs_to_a_layer():
    unknown = {part_of(path) for path in FILES} - {*LEVEL, *BESIDE}
    assert not unknown, f"give {sorted(unknown)} a place in the order of the layers"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_upwards(path):
    own = part_of(path)
    level = LEVEL[BESIDE.get(own, own)]
    for name in imported_parts(path):
        assert name not in TOP, f"{path.name} imports the top module {name}"
        assert name in LEVEL or name == own, f"{path.name} imports {name}, which is no layer"
        assert name == own or LEVEL[name] <= level, f"{path.name} imports {name}, which is built on {own}"


def test_the_walk_sees_relative_and_absolute_imports(tmp_path):
    """A rule that sees no imports would allow all of them."""
    seen = imported_parts(PACKAGE / "dynamics" / "newton_euler.py")
    assert {"model", "spatial", "sweep", "dynamics"} <= seen
