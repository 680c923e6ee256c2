"""XML as plain nodes with line numbers, read without trusting the file.

Document type declarations are refused, and with them entities, so no file can expand in memory or read other files.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

MAX_BYTES = 16 * 2**20
MAX_DEPTH = 64


@dataclasses.dataclass(eq=False)
class Node:
    """An XML element: its tag, its attributes, the line it begins on, its children and its text."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Node] = dataclasses.field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> Iterator[Node]:
        """The children with this tag."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Node | None:
        """The first child with this tag."""
        return next(self.all(tag), None)

    def __str__(self) -> str:
        name = f' name="{self.attributes["name"]}"' if "name" in self.attributes else ""
        return f"<{self.tag}{name}> on line {self.line}"


@dataclasses.dataclass(frozen=True)
class Source:
    """The bytes of a model, the name to call them by, and the directory they came from (``None`` for text)."""

    name: str
    data: bytes
    path: Path | None = None

    @property
    def directory(self) -> str | None:
        """The directory of the file."""
        return None if self.path is None else str(self.path.resolve().parent)


def read_source(path_or_text: str | Path) -> Source:
    """The bytes of a file, or of XML text: a string is text if it begins with ``<``."""
    if isinstance(path_or_text, str) and path_or_text.lstrip("\ufeff \t\r\n").startswith("<"):
        source = Source("the XML text", path_or_text.lstrip("\ufeff \t\r\n").encode("utf-8", "surrogatepass"))
    elif isinstance(path_or_text, str | Path):
        path = Path(path_or_text)
        if "\0" in str(path) or not path.is_file():
            raise FileNotFoundError(f"There is no file {str(path)[:200]!r}; give the path of a model or its XML text.")
        if path.stat().st_size > MAX_BYTES:
            raise _too_large(str(path), path.stat().st_size)
        source = Source(str(path), path.read_bytes(), path)
    else:
        raise TypeError(f"A model is loaded from a path or from XML text, not from {type(path_or_text).__name__}.")
    if len(source.data) > MAX_BYTES:
        raise _too_large(source.name, len(source.data))
    return source


def _too_large(name: str, size: int) -> ValueError:
    return ValueError(
        f"{name} has {size} bytes; models may have at most {MAX_BYTES}: remove what is not part of the model."
    )


def parse(source: Source) -> Node:
    """The root element; a ``ValueError`` names the file, the line and what is wrong."""
    parser = expat.ParserCreate()
    top = Node("", {}, 0)
    stack = [top]

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(stack) > MAX_DEPTH:
            raise ValueError(
                f"{source.name}, line {parser.CurrentLineNumber}: elements nest deeper than {MAX_DEPTH}; flatten them."
            )
        node = Node(tag, attributes, parser.CurrentLineNumber)
        stack[-1].children.append(node)
        stack.append(node)

    def end(tag: str) -> None:
        stack.pop()

    def text(data: str) -> None:
        stack[-1].text += data

    def refuse(*_) -> None:
        raise ValueError(
            f"{source.name}, line {parser.CurrentLineNumber}: document type declarations and entities are refused; "
            "remove the <!DOCTYPE …>."
        )

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(source.data, True)
    except expat.ExpatError as error:
        raise ValueError(
            f"{source.name} is not well-formed XML: {expat.ErrorString(error.code)} on line {error.lineno}, "
            f"column {error.offset + 1}."
        ) from None
    except (UnicodeError, LookupError) as error:
        raise ValueError(f"{source.name} is not readable as XML text: {error}.") from None
    return top.children[0]
