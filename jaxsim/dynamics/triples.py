"""Where the entries of a third-order tensor over the coordinates of a tree come from.

An entry belongs to three coordinates on one path from the root, k ⪯ j ⪯ i. The products of the vectors of all pairs
(i, j) with the columns of all k are formed as matrices, pairs by coordinates; a static table then tells for each entry
of the tensor which product it is. Pairs that are not on one path are never formed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model.topology import Topology

Case = tuple[str, np.ndarray, np.ndarray, int]
"""Entries of one kind: which of the axes a, b, c of the tensor are i, j and k, as a word such as ``"bac"``; the masks
(i, j) and (j, k) of the entries; and the number of the product."""


def pairs(tree: Topology) -> tuple[np.ndarray, np.ndarray]:
    """The coordinates i and j of all pairs j ⪯ i."""
    i, j = np.nonzero(tree.precedes)
    return i, j


def table(tree: Topology, cases: Sequence[Case], nothing: int) -> np.ndarray:
    """For each entry (a, b, c), where it stands among the flattened products, ``nothing`` of them before a zero."""
    n = tree.nv
    of_pair = np.zeros((n, n), int)
    of_pair[pairs(tree)] = np.arange(tree.precedes.sum())
    size = int(tree.precedes.sum()) * n
    at = dict(zip("abc", np.indices((n, n, n)), strict=True))
    result = np.full((n, n, n), nothing * size)
    for order, upper, lower, product in cases:
        i, j, k = (at[letter] for letter in order)
        holds = upper[i, j] & lower[j, k]
        result = np.where(holds, product * size + of_pair[i, j] * n + k, result)
    return result.astype(np.int32)
