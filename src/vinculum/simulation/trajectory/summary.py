"""A trajectory in a few labelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vinculum.text_printer import labelled_rows

if TYPE_CHECKING:
    from vinculum.simulation.trajectory.trajectory import Trajectory


def labelled(motion: Trajectory) -> dict[str, str]:
    """What there is to say of a run, in a few labelled rows."""
    rows = {
        "time": f"{motion.t[0]:.6g} to {motion.t[-1]:.6g}, {_counted(len(motion.t), 'sample')}, "
        f"{_counted(motion.steps, 'step')}",
        "outcome": str(motion.outcome),
        "method": motion.method,
        "stabilization": motion.stabilization,
    }
    if motion.run.states_energy:
        rows["energy error"] = f"{motion.energy_error:.2g}"
    for name, work in motion.servo_work.items():
        rows[f"work of {name}"] = f"{work[-1]:.6g}"
    for (name, level), value in motion.largest_residuals.items():
        bound = motion.promised.get((name, level))
        rows[f"{name}, {level}"] = f"{value:.2g}" + (f" (promised {bound:.2g})" if bound is not None else "")
    if motion.beyond:
        rows["warning"] = "; ".join(map(str, motion.beyond))
    for name, times in motion.event_times.items():
        rows[f"event {name}"] = instants(times)
    return rows


def instants(times: Sequence[float]) -> str:
    """The first instants of an event and how many more there are."""
    if not times:
        return "none"
    more = f" and {len(times) - 3} more" if len(times) > 3 else ""
    return "t = " + ", ".join(f"{t:.6g}" for t in times[:3]) + more


def _counted(amount: int, what: str) -> str:
    return f"{amount} {what}" if amount == 1 else f"{amount} {what}s"


def summary(motion: Trajectory) -> str:
    """The rows as text."""
    return labelled_rows("Trajectory", labelled(motion))
