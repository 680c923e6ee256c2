"""A picture in a notebook that follows a computation while it runs."""

from __future__ import annotations

import json
import uuid
from typing import Any

import numpy as np

from ..maximal import Mechanism
from ..model import Model
from .html import Frame, page_of, pose_rows
from .scene import motion_of, parts_of


class Viewer:
    """A live picture of a model in a notebook: display it, then call ``update`` with configurations.

        viewer = jaxsim.viz.Viewer(model)
        viewer                                   # the last line of a cell displays it
        viewer.update(q)                         # in any later cell, also in a loop

    Args:
        model: the model, or a mechanism.
        q: the configuration to show at first; the neutral one by default, needed for a mechanism.
        appearance: the model whose shapes a mechanism made from it shall wear.
        height: the height of the picture, in pixels.
    """

    def __init__(self, model: Model | Mechanism, q: Any = None, appearance: Model | None = None, height: int = 420):
        if q is None and isinstance(model, Mechanism):
            raise ValueError("A mechanism has no neutral configuration; give the one to show at first, q (nb, 7).")
        self._model, self._name = model, f"jaxsim-{uuid.uuid4().hex}"
        first = model.neutral() if q is None and isinstance(model, Model) else q
        page = page_of(parts_of(model, appearance), motion_of(model, np.asarray(first)[None]), "", live=True)
        self._frame, self._handle = Frame(page, height, self._name), None

    def _repr_html_(self) -> str:
        return self._frame._repr_html_()

    def update(self, q: Any) -> None:
        """Show another configuration."""
        try:
            from IPython.display import HTML, display
        except ImportError:
            raise ImportError("A live picture needs a notebook: pip install ipykernel, or use save_html.") from None
        message = HTML(self.message(q))
        if self._handle is None:
            self._handle = display(message, display_id=True)
        else:
            self._handle.update(message)

    def message(self, q: Any) -> str:
        """The script that tells the picture where the bodies are."""
        rows = pose_rows(motion_of(self._model, np.asarray(q)[None])).reshape(-1)
        text = json.dumps({"jaxsim": [round(float(x), 6) for x in rows]})
        return f'<script>document.getElementById("{self._name}")?.contentWindow.postMessage({text}, "*")</script>'
