"""Constraints that a motion approaches instead of starting on them.

With the residual η of a constraint and its relative degree r, the equation η⁽ʳ⁾ = 0 is replaced by

    (d/dt + κ)ʳ η = 0,   for a velocity constraint ξ = ψ(q, q̇, t):  ξ̇ = -κ ξ,

so that the parameter of release ξ goes to zero at the chosen rate κ (mode (c) of Khusanov 2020).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from vinculum.derivation.mechanics.lagrange import Mechanics, total
from vinculum.errors import ModelError
from vinculum.graph import Node, constant, vector
from vinculum.names import suggestion


def approaching(mechanics: Mechanics, rates: Mapping[str, float] | float | None) -> Mechanics:
    """The same mechanics with constraints approached at the given rates, {name: κ} or one κ for all."""
    names = [c.name for c in mechanics.system.constraints]
    if rates is None:
        return mechanics
    given = dict(rates) if isinstance(rates, Mapping) else dict.fromkeys(names, float(rates))
    problems = [f"there is no constraint {name!r}.{suggestion(name, names)}" for name in given if name not in names]
    problems += [
        f"the rate of {name} is {rate}; it must be finite and not negative."
        for name, rate in given.items()
        if not (math.isfinite(rate) and rate >= 0)
    ]
    if problems:
        raise ModelError("the rates are not usable", problems)
    approached = replace(mechanics, approach=given)
    found = pulls(approached)
    gamma = [g + found[name] if name in found else g for g, name in zip(mechanics.gamma, names, strict=True)]
    return replace(approached, gamma=vector(gamma))


def pulls(mechanics: Mechanics) -> dict[str, Node]:
    """(d/dt + κ)ʳ η - η⁽ʳ⁾ of every constraint that is approached, as a node of q, q̇ and t."""
    chains = dict(zip((c.name for c in mechanics.system.constraints), mechanics.chains, strict=True))
    return {name: pull(chains[name], constant(float(rate))) for name, rate in mechanics.approach.items()}


def pull(chain: Sequence[Node], rate: Node) -> Node:
    """Σ_j C(r, j) κ^(r-j) η⁽ʲ⁾, j < r, for the chain η, η̇, ..."""
    r = len(chain)
    return total([math.comb(r, j) * rate ** (r - j) * residual for j, residual in enumerate(chain)])
