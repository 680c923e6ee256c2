import numpy as np
import pytest

import jaxsim
from jaxsim.model.robots.random_tree import every_joint
from jaxsim.model.topology import Topology


def revolute_tree(parents) -> Topology:
    """A topology of one-DoF joints with the given parents of the bodies 1, 2, …"""
    count = len(parents)
    return Topology(
        parents=(-1, *parents),
        body_names=("world", *(f"b{i}" for i in range(1, count + 1))),
        joint_names=("", *(f"j{i}" for i in range(1, count + 1))),
        joint_nq=(0,) + (1,) * count,
        part_nv=((),) + ((1,),) * count,
        groups=(tuple(range(1, count + 1)),),
    )


@pytest.fixture(scope="module")
def mixed():
    """The topology of a tree with every joint."""
    return jaxsim.robots.random_tree(len(every_joint()), 3).topology


def random_parents(count, seed):
    rng = np.random.default_rng(seed)
    return tuple(int(rng.integers(0, i + 1)) for i in range(count))


def reached_parents(topology):
    """The parent that a sweep meets at each element: the previous one, or whoever left its state in the slot."""
    table = topology.elements
    slots = {table.root_slot: -1} if table.root_slot >= 0 else {}
    parents = []
    for i in range(table.count):
        parents.append(i - 1 if table.take[i] < 0 else slots[table.take[i]])
        if table.keep[i] >= 0:
            slots[table.keep[i]] = i
    return np.array(parents, dtype=int)


@pytest.mark.parametrize("seed", range(20))
def test_slots_hand_every_element_its_parent(seed):
    topology = revolute_tree(random_parents(40, seed))
    np.testing.assert_array_equal(reached_parents(topology), topology.elements.parent)


@pytest.mark.parametrize("seed", range(5))
def test_visits_are_depth_first(seed):
    topology = revolute_tree(random_parents(40, seed))
    position = {int(body): i for i, body in enumerate(topology.visits)}
    assert sorted(position) == list(range(1, 41))
    for body in range(1, 41):
        subtree = [b for b in range(1, 41) if topology.ancestors[position[b], position[body]]]
        places = sorted(position[b] for b in subtree)
        assert places == list(range(position[body], position[body] + len(subtree)))


def test_ancestors_are_the_transitive_closure_of_parents(mixed):
    parent = mixed.elements.parent
    for i, row in enumerate(mixed.ancestors):
        path, at = set(), i
        while at >= 0:
            path.add(at)
            at = int(parent[at])
        assert set(np.flatnonzero(row)) == path


@pytest.mark.parametrize(
    ("model", "slots"),
    [
        (lambda: jaxsim.robots.chain(5), 0),
        (jaxsim.robots.quadruped, 1),
        (jaxsim.robots.humanoid, 1),
    ],
    ids=["chain", "quadruped", "humanoid"],
)
def test_number_of_slots(model, slots):
    assert model().topology.elements.slots == slots


def test_a_complete_binary_tree_needs_one_slot_a_level():
    topology = revolute_tree((0, *(1 + i // 2 for i in range(30))))
    assert topology.elements.slots == 4


def test_a_star_needs_one_slot():
    assert revolute_tree((0,) * 30).elements.slots == 1


def test_every_degree_of_freedom_is_one_element(mixed):
    topology = mixed
    moving = topology.elements.velocity[topology.elements.velocity < topology.nv]
    np.testing.assert_array_equal(np.sort(moving), np.arange(topology.nv))
    fixed = sum(nv == 0 for nv in topology.joint_nv[1:])
    assert topology.elements.count == topology.nv + fixed
    for body, last in enumerate(topology.elements.last_of_body[1:], start=1):
        assert topology.elements.body[last] == body
        assert topology.elements.is_last[last]


def test_topologies_are_hashable_and_compare_by_value():
    a, b = revolute_tree((0, 1, 1)), revolute_tree((0, 1, 1))
    assert hash(a) == hash(b)
    assert a == b
    assert a != revolute_tree((0, 1, 2))
