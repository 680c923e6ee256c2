"""Every public name has a docstring and a place in the reference of the documentation."""

import importlib.util
import inspect
import re
from pathlib import Path

import pytest

import jaxsim

DOCS = Path(__file__).parents[1] / "docs"
PUBLIC = {name: value for name, value in vars(jaxsim).items() if not name.startswith("_")}
OTHER_NAMES = {"aba": "forward_dynamics", "rnea": "inverse_dynamics", "crba": "mass_matrix"}


@pytest.fixture(scope="module")
def entries():
    """What the reference lists, page by page as mkdocs makes them."""
    specification = importlib.util.spec_from_file_location("reference", DOCS / "reference.py")
    reference = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(reference)
    pages = [reference.on_page_markdown(path.read_text(encoding="utf-8")) for path in (DOCS / "api").glob("*.md")]
    return re.findall(r"^::: jaxsim\.(\S+)$", "\n".join(pages), re.MULTILINE)


@pytest.mark.parametrize("name", [name for name, value in PUBLIC.items() if inspect.isroutine(value)])
def test_every_public_function_says_what_it_does(name):
    text = inspect.getdoc(PUBLIC[name])
    assert text is not None
    assert len(text.split("\n\n")[0]) > 20


def test_every_public_name_is_in_the_reference_once(entries):
    last = [entry.split(".")[-1] for entry in entries]
    assert len(last) == len(set(last)), f"twice: {sorted(name for name in set(last) if last.count(name) > 1)}"
    names = {name for name, value in PUBLIC.items() if inspect.isroutine(value) or inspect.isclass(value)}
    assert not names - set(last) - set(OTHER_NAMES)
    for other, name in OTHER_NAMES.items():
        assert PUBLIC[other] is PUBLIC[name]


def test_the_reference_names_nothing_that_is_not_there(entries):
    for entry in entries:
        first, *rest = entry.split(".")
        if first in ("model", "rollout"):
            continue
        found = PUBLIC.get(first)
        for part in rest[:-1] if rest[-2:-1] == rest[-1:] else rest:
            found = getattr(found, part, None)
        assert found is not None, f"docs/api names jaxsim.{entry}, which does not exist"
