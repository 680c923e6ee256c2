"""The order in which the bodies and joints of a mechanism are eliminated.

Joints are numbered after the bodies. A spanning tree grows from the world; bodies follow depth first, each just before
the joint that carries it, so that every joint's pivot is definite. A joint that closes a loop comes just before the
body where the two sides of the loop meet, which keeps the fill-in inside the loop, or last if they meet in the world
(Brüdigam & Manchester 2020, §4.3).
"""

from __future__ import annotations

from collections.abc import Sequence


def elimination_order(num_bodies: int, parent: Sequence[int], child: Sequence[int]) -> tuple[tuple[int, ...], set[int]]:
    """The order of the nb bodies and nj joints, and the set of joints that close loops; body nb is the world."""
    tree_joint, ancestors, closers = spanning_tree(num_bodies, parent, child)
    meeting = {j: _meeting_body(parent[j], child[j], ancestors, num_bodies) for j in closers}
    children = [[] for _ in range(num_bodies + 1)]
    for body in range(num_bodies):
        children[ancestors[body][1]].append(body)
    order: list[int] = []
    stack = [(num_bodies, False)]
    while stack:
        body, done = stack.pop()
        if not done:
            stack.append((body, True))
            stack.extend((b, False) for b in children[body])
            continue
        order += [num_bodies + j for j, meet in meeting.items() if meet == body]
        if body < num_bodies:
            order.append(body)
            order += [num_bodies + tree_joint[body]] if body in tree_joint else []
    return tuple(order), set(closers)


def spanning_tree(
    num_bodies: int, parent: Sequence[int], child: Sequence[int]
) -> tuple[dict[int, int], dict[int, list[int]], list[int]]:
    """The joint that carries each body, breadth first, the bodies from each to the world, and the other joints.

    Bodies not reached from the world start trees of their own, hung below the world and carried by no joint.
    """
    incident = [[] for _ in range(num_bodies + 1)]
    for j, (a, b) in enumerate(zip(parent, child, strict=True)):
        incident[a].append((j, b))
        incident[b].append((j, a))
    tree_joint: dict[int, int] = {}
    ancestors = {num_bodies: [num_bodies]}
    used = set()
    for start in [num_bodies, *range(num_bodies)]:
        if start not in ancestors:
            ancestors[start] = [start, num_bodies]
        elif start != num_bodies:
            continue
        queue = [start]
        for body in queue:
            for j, other in incident[body]:
                if other not in ancestors:
                    ancestors[other] = [other, *ancestors[body]]
                    tree_joint[other] = j
                    used.add(j)
                    queue.append(other)
    return tree_joint, ancestors, [j for j in range(len(parent)) if j not in used]


def _meeting_body(a, b, ancestors, world):
    above = set(ancestors[a])
    return next((body for body in ancestors[b] if body in above), world)
