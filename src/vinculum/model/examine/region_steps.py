"""The starts from which a loop converges, and the parameters for which it is stable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vinculum.analyze import Equilibrium, Region, stability_region
from vinculum.control import Attraction, AttractionEstimate, attraction_estimate, region_of_attraction
from vinculum.errors import VinculumError
from vinculum.model.examine.motion_steps import Equations, question_of
from vinculum.model.examine.steps import loop_at, mechanical
from vinculum.model.model import Model
from vinculum.notebook_repr import html


@dataclass(frozen=True, eq=False)
class RegionOfAttraction:
    """The sampled region of attraction, and the set of Lyapunov's form inside it, or why there is none."""

    sampled: Attraction
    estimate: AttractionEstimate | None = None
    without_estimate: str = ""

    _repr_html_ = html


def attraction_of(
    model: Model, equations: Equations, rest: Equilibrium, progress: Callable[[float], None] | None = None
) -> RegionOfAttraction:
    """The region of attraction that the model requests, at its first equilibrium."""
    asked = question_of(model, "attraction")
    loop = loop_at(model, equations, rest)
    of_estimate = {key: asked.pop(key) for key in ("weights", "directions") if key in asked}
    sampled = region_of_attraction(
        loop, rest, asked.pop("over"), asked.pop("time"), progress=progress or False, **asked
    )
    try:
        return RegionOfAttraction(sampled, attraction_estimate(loop, rest, **of_estimate))
    except VinculumError as error:
        return RegionOfAttraction(sampled, without_estimate=str(error))


def map_of(
    model: Model, equations: Equations, rest: Equilibrium, progress: Callable[[float], None] | None = None
) -> Region:
    """The stability over two parameters or gains; equilibria are searched from the first one."""
    asked = question_of(model, "stability_map")
    over, closed = asked["over"], asked.get("loop", "closed" if model.control else "open") == "closed"
    given = {} if closed else dict((model.equilibrium or {}).get("given", {}))
    found = loop_at(model, equations, rest, over) if closed else mechanical(equations)
    region = stability_region(found, given, over, near=rest, progress=progress or False)
    if (region.sides == "none").all():
        raise VinculumError(
            "No equilibrium was found at any of the parameters. Steady motions have no map; use borders."
        )
    return region
