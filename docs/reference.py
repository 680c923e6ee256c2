"""Lists in the reference what the package exports, so that no public name is forgotten.

A page with the line ``<!-- exports: dynamics -->`` gets an entry for every name that ``jaxsim/__init__.py`` takes from
``jaxsim.dynamics`` and that no page names itself; ``<!-- exports: rest -->`` takes what no page asked for, and
``<!-- exports: optimal.* -->`` all that ``jaxsim.optimal`` exports itself.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
ENTRY = re.compile(r"^::: jaxsim\.(\S+)$", re.MULTILINE)
MARK = re.compile(r"<!-- exports: (.+?) -->")


def exports(package: str = "") -> dict[str, list[str]]:
    """The public names by the module that they come from; second names of the same thing are left out."""
    found: dict[str, list[str]] = {}
    for node in ast.parse((ROOT / "jaxsim" / package / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [name.name for name in node.names if name.asname == name.name and name.name != "robots"]
            found.setdefault(node.module.split(".")[0], []).extend(names)
    return found


def on_page_markdown(markdown: str, **_) -> str:
    """What mkdocs calls for each page."""
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "api").glob("*.md"))
    named = {entry.split(".")[-1] for entry in re.findall(r"^::: (\S+)$", pages, re.MULTILINE)}
    asked = {package for mark in MARK.findall(pages) for package in mark.split(", ")}

    def entries(mark: re.Match) -> str:
        packages = mark.group(1).split(", ")
        if packages[0].endswith(".*"):
            package = packages[0].removesuffix(".*")
            return "\n\n".join(f"::: jaxsim.{package}.{name}" for names in exports(package).values() for name in names)
        if packages == ["rest"]:
            packages = [package for package in exports() if package not in asked]
        names = [name for package in packages for name in exports().get(package, []) if name not in named]
        return "\n\n".join(f"::: jaxsim.{name}" for name in names) or "All is on the other pages."

    return ENTRY.sub(lambda entry: f"::: jaxsim.{exact(entry.group(1))}", MARK.sub(entries, markdown))


def exact(entry: str) -> str:
    """The path of a function whose file has its name, which would else be taken for the file."""
    package = next((module for module, names in exports().items() if entry in names), "")
    path = f"{package}.{entry}" if package else entry
    file = ROOT / "jaxsim" / f"{path.replace('.', '/')}.py"
    return f"{path}.{path.split('.')[-1]}" if "." in path and file.exists() else entry
