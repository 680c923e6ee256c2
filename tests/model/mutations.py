"""Files as accidents and enemies make them: random damage to valid XML."""

import random
import xml.etree.ElementTree as ET

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

REPEATABLE = settings(
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
"""The same examples in every run, however long one takes."""

NUMBERS = (
    "nan",
    "inf",
    "-inf",
    "1e308",
    "-1",
    "0",
    "1e-320",
    "",
    "x",
    "1 2",
    "0x10",
    "1,5",
    "½",
    "99999999999999999999",
)
WORDS = ("", "world", "base", "a", "b", "free", "<", "&amp;", "\u2603", "x" * 300)


def damaged_text(text: str, seed: int) -> str:
    """Characters of a text deleted, doubled, swapped or replaced in one to three places."""
    dice = random.Random(seed)
    for _ in range(dice.randint(1, 3)):
        start = dice.randrange(len(text))
        size = min(dice.choice((1, 1, 3, 20, 200)), len(text) - start)
        piece = text[start : start + size]
        noise = "".join(dice.choice("<>\"'/&;=0.-e \n!?[]ab") for _ in range(size))
        text = text[:start] + dice.choice(("", piece * 2, piece[::-1], noise)) + text[start + size :]
    return text


def damaged_tree(text: str, seed: int) -> str:
    """Elements removed, doubled, moved or renamed and attributes changed, in one to three places of valid XML."""
    dice = random.Random(seed)
    root = ET.fromstring(text)
    for _ in range(dice.randint(1, 3)):
        parents = [(parent, child) for parent in root.iter() for child in parent]
        if not parents:
            break
        parent, child = dice.choice(parents)
        _damage_element(dice, root, parent, child) if dice.random() < 0.4 else _damage_attribute(dice, root, child)
    return ET.tostring(root, encoding="unicode")


def _damage_element(dice, root, parent, child) -> None:
    kind = dice.choice(("remove", "double", "move", "rename"))
    if kind == "rename":
        child.tag = dice.choice([element.tag for element in root.iter()])
        return
    if kind in ("remove", "move"):
        parent.remove(child)
    if kind in ("double", "move"):
        inside = set(child.iter())
        dice.choice([element for element in root.iter() if element not in inside]).append(child)


def _damage_attribute(dice, root, child) -> None:
    others = [value for element in root.iter() for value in element.attrib.values()] or [""]
    if not child.attrib:
        child.set(dice.choice(("name", "type", "xyz", "value")), dice.choice(others))
        return
    name = dice.choice(sorted(child.attrib))
    kind = dice.choice(("remove", "number", "word", "other", "part"))
    if kind == "remove":
        del child.attrib[name]
        return
    words = child.attrib[name].split() or [""]
    words[dice.randrange(len(words))] = dice.choice(NUMBERS)
    values = {
        "number": dice.choice(NUMBERS),
        "word": dice.choice(WORDS),
        "other": dice.choice(others),
        "part": " ".join(words),
    }
    child.set(name, values[kind])


def damaged(text: str):
    """A strategy for damaged versions of a text."""
    seeds = st.integers(0, 2**32)
    return st.builds(damaged_text, st.just(text), seeds) | st.builds(damaged_tree, st.just(text), seeds)
