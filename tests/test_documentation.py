"""Every public name has a docstring and a place in the reference of the documentation."""

import inspect
import re
from pathlib import Path

import pytest

import jaxsim

REFERENCE = Path(__file__).parents[1] / "docs" / "api"
PUBLIC = {name: value for name, value in vars(jaxsim).items() if not name.startswith("_")}
OTHER_NAMES = {"aba": "forward_dynamics", "rnea": "inverse_dynamics", "crba": "mass_matrix"}


def listed() -> set[str]:
    entries = "\n".join(path.read_text(encoding="utf-8") for path in REFERENCE.glob("*.md"))
    return {line.split(".")[-1] for line in re.findall(r"^::: (\S+)$", entries, re.MULTILINE)}


@pytest.mark.parametrize("name", [name for name, value in PUBLIC.items() if inspect.isroutine(value)])
def test_every_public_function_says_what_it_does(name):
    text = inspect.getdoc(PUBLIC[name])
    assert text is not None
    assert len(text.split("\n\n")[0]) > 20


def test_every_public_name_is_in_the_reference():
    names = {name for name, value in PUBLIC.items() if inspect.isroutine(value) or inspect.isclass(value)}
    missing = names - listed() - set(OTHER_NAMES)
    assert not missing, f"add {sorted(missing)} to a page in docs/api"
    for other, name in OTHER_NAMES.items():
        assert PUBLIC[other] is PUBLIC[name]


def test_the_reference_names_nothing_that_is_not_there():
    for entry in re.findall(
        r"^::: jaxsim\.(\S+)$", "\n".join(p.read_text() for p in REFERENCE.glob("*.md")), re.MULTILINE
    ):
        first, *rest = entry.split(".")
        found = PUBLIC.get(first)
        if first in ("model", "rollout"):
            continue
        for part in rest:
            found = getattr(found, part, None)
        assert found is not None, f"docs/api names jaxsim.{entry}, which does not exist"
