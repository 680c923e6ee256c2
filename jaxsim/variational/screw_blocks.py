"""The coefficients of ``blocks.py`` for models whose joints are all screws, in components."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array

from ..dynamics.elements import per_element
from ..spatial import Force, Motion, Scalar
from ..spatial.operator import SpatialMatrix
from .blocks import Shape
from .elimination import wrench_response
from .nodes import Nodes, StepProblem

Motions = tuple[tuple[Motion, ...], ...]
Forces = tuple[tuple[Force, ...], ...]


class ScrewBlocks(NamedTuple):
    """Outer tuples run over the s rows or unknowns of a joint, inner ones over the parts of f or of x.

    Attributes:
        W: motions that multiply the parts of f.
        theta: forces that multiply the parts of x.
        V: motions that the unknowns add to the parts of x.
        shift: forces that they take away from the parts of f.
        Lambda0: what springs, dampers and rotors add to the rows.
    """

    W: Motions
    theta: Forces
    V: Motions
    shift: Forces
    Lambda0: tuple[tuple[Scalar, ...], ...]


def screw_blocks(problem: StepProblem, nodes: Nodes, sizes: Shape) -> ScrewBlocks:
    """The terms of Algorithm B.2, with zeros where nothing is as Python numbers."""
    return ScrewBlocks(*_rows(problem, nodes, sizes), *_columns(problem, nodes, sizes), _joint_terms(problem, sizes))


def _rows(problem: StepProblem, nodes: Nodes, sizes: Shape) -> tuple[Motions, Forces]:
    """W^{α·}: a^{αβ}S̄^β + [α = β] w Δt Ṡ^α on δ̄μ^β and S̄^α on δ̄Γ^α; θ^{α·}: w Δt S̄^α ×* μ̄^α on δ̄v^α."""
    rule, h, points = problem.rule, problem.h, range(problem.s + 1)
    W, theta = [], []
    for alpha in sizes.equations:
        S, weight = nodes[alpha].S, float(rule.weights[alpha]) * h
        on_mu = [nodes[beta].S * float(rule.a[alpha, beta]) for beta in points]
        on_mu[alpha] = on_mu[alpha] + nodes[alpha].twist.cross(S) * weight
        on_gamma = [S if beta == alpha else Motion.zero() for beta in sizes.impulses]
        turn = S.cross_force(nodes[alpha].mu) * weight
        theta.append(
            (*(turn if beta == alpha else Force.zero() for beta in points), *(Force.zero() for _ in sizes.poses))
        )
        W.append((*on_mu, *on_gamma))
    return tuple(W), tuple(theta)


def _columns(problem: StepProblem, nodes: Nodes, sizes: Shape) -> tuple[Motions, Forces]:
    """V^{·γ}: b^{ργ}/Δt S̄^ρ + [ρ = γ] Ṡ^γ in δ̄v^ρ and S̄^γ in η^γ; the shift −S̄^γ ×* f^γ in δ̄μ^γ and δ̄Γ^γ."""
    b, h, points = problem.rule.b, problem.h, range(problem.s + 1)
    V, shift = [], []
    for gamma in sizes.unknowns:
        node = nodes[gamma]
        in_v = [nodes[rho].S * (float(b[rho, gamma]) / h) for rho in points]
        in_v[gamma] = in_v[gamma] + node.twist.cross(node.S)
        in_eta = [node.S if nu == gamma else Motion.zero() for nu in sizes.poses]
        in_mu = [-node.S.cross_force(node.mu) if alpha == gamma else Force.zero() for alpha in points]
        in_gamma = [-node.S.cross_force(node.gamma) if alpha == gamma else Force.zero() for alpha in sizes.impulses]
        V.append((*in_v, *in_eta))
        shift.append((*in_mu, *in_gamma))
    return tuple(V), tuple(shift)


def _joint_terms(problem: StepProblem, sizes: Shape) -> tuple[tuple[Scalar, ...], ...]:
    """Λ₀^{αγ}: springs, dampers and rotors; one where a fixed joint has no equation."""
    model, rule, h = problem.model, problem.rule, problem.h
    stiffness, damping, armature = (
        per_element(model, leaf) for leaf in (model.stiffness, model.damping, model.armature)
    )
    fixed = model.topology.elements.velocity == model.nv
    rotors = rule.a @ rule.b

    def entry(k: int, alpha: int, gamma: int) -> Array:
        w = float(rule.weights[alpha])
        value = (armature / h) * rotors[alpha, gamma] - damping * (w * rule.b[alpha, gamma])
        if alpha == gamma:
            value = value - stiffness * (w * h)
        return jnp.where(fixed, 1.0 if sizes.unknowns[k] == gamma else 0.0, value).astype(armature.dtype)

    return tuple(tuple(entry(k, alpha, gamma) for gamma in sizes.unknowns) for k, alpha in enumerate(sizes.equations))


def own_response(problem: StepProblem, nodes: Nodes, sizes: Shape) -> list[list[tuple[int, SpatialMatrix]]]:
    """What each element itself answers: for each part of f, the parts of x that it answers, with the 6×6 matrices."""
    points = range(problem.s + 1)
    answers = [[(alpha, SpatialMatrix.from_inertia(nodes[alpha].inertia))] for alpha in points]
    for alpha in sizes.impulses:
        by_pose, by_twist = wrench_response(problem, nodes[alpha], alpha)
        parts = [] if by_twist is None else [(alpha, by_twist)]
        parts += [(len(points) + sizes.poses.index(alpha), by_pose)] if alpha in sizes.poses else []
        answers.append(parts)
    return answers
