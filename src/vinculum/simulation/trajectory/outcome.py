"""How a run ended, as data: one of a few kinds, the cause, what it is about, and numbers. One table has the sentences.

A run that stops early is a result with a reason, not a stack trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vinculum.errors import About, Finding, VinculumError
from vinculum.frozen import FrozenMapping
from vinculum.names import suggestion
from vinculum.notebook_repr import html

FINISHED, EVENT, INTERRUPTED = "finished", "event", "interrupted"
SINGULAR, CHART_LEFT, NON_FINITE, STALLED = "singular", "chart left", "non-finite", "stalled"
LAW_FAILED = "law failed"  # a control law gave no usable inputs
DIVERGED = "diverged"  # a loop that a processor closes
INACCURATE = "inaccurate"  # the end was reached, but not by a motion of the system
REPIVOT = "repivot"  # internal: continue with another order of elimination
CORNER = "corner"  # internal: continue on the next side of a corner
KINDS = (FINISHED, EVENT, INTERRUPTED, SINGULAR, CHART_LEFT, NON_FINITE, STALLED, LAW_FAILED, DIVERGED, INACCURATE)

# The sentence of every cause. Names in braces are parts of the model (`About`), numbers, or the problem and the advice
# of a finding.
SENTENCES = {
    "unknown": "",  # a method gives no cause; it is looked for at the last good state
    "end of interval": "the end of the interval was reached",
    "singular positions": "the end of the interval was reached; the motion crossed {count:.0f} singular positions, the "
    "first at t = {first:.6g}: it was continued smoothly, but other motions branch off there",
    "terminal event": "the event {event!r} ended the run",
    "interrupted": "the run was interrupted; the samples up to here are kept",
    "pivot jumped": "a pivot changed its sign within one step",
    "endless corners": "the step size went to zero; corners of the equations follow each other without end",
    "endless events": "the event {event!r} happens again and again in ever shorter times, without end",
    "event undefined": "the expression of the event {event!r} has no finite value here: it divides by zero, or a "
    "function leaves its domain",
    "out of reach": "{steps:.0f} steps led to t = {time:.6g}; the end is more than 1e15 such steps away",
    "solver failed": "the step size went to zero; {problem}",
    "step size": "the step size went to zero; the motion has a singularity here",
    "division": "division by a number that goes to zero: {expression} = {value:.3g}",
    "edge of domain": "{operation} of a number at the edge of its domain: {expression} at {value:.3g}",
    "end of range": "the motion does not leave the place where {expression} turns or jumps",
    "growth": "the state grew without bound, {state} fastest",
    "condition": "{problem}; it was {start:.4g} at the start and is {value:.4g} here. {advice}",
    "energy lost": "the energy error {error:.3g} is too large for a kinetic energy or work of {scale:.3g}. {advice}",
    "constraint lost": "the constraint `{constraint}` is not held: its residual reached {residual:.3g}. {advice}",
    "pulse missed": "{expression} changes and changes back within {width:.3g} near t = {time:.6g}, which the step "
    "{step:.4g} passes over. {advice}",
    "law": "the control law {problem}",
    "diverged": "the loop diverges: the state is {ratio:.3g} times as large as at the start and grows by the factor "
    "{factor:.3g} from sample to sample, {state} fastest. Use a shorter period or other gains",
    "bound exceeded": "the residual {residual:.3g} of the constraint `{constraint}` ({level}) exceeds the promised "
    "bound {bound:.3g}. {advice}",
    "trajectory lost": "from here on the coordinates may be off by {error:.3g}, more than the required {accuracy:.3g}. "
    "{advice}",
    "refused": "{problem} {advice}",  # a finding of another stage: a singular state, an operation outside its domain
}
_PRESCRIBED = "; the motion prescribed by {constraint} needs an infinite input or reaction there"


@dataclass(frozen=True)
class Cause:
    """Why a run ended: a ``name`` of `SENTENCES`, the parts of the model it is ``about``, and ``numbers``.

    ``finding`` is the problem that another stage found, if there is one. ``str`` gives the sentence.

    >>> print(Cause("division", [About("expression", "x")], {"value": 1e-10}))
    division by a number that goes to zero: x = 1e-10
    """

    name: str = "unknown"
    about: Sequence[About] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)
    finding: Finding | None = None

    def __post_init__(self) -> None:
        if self.name not in SENTENCES:
            near = suggestion(str(self.name), SENTENCES)
            raise VinculumError(f"There is no cause {self.name!r}.{near} Use one of {', '.join(SENTENCES)}.")
        found = (self.finding.about,) if self.finding is not None and self.finding.about is not None else ()
        object.__setattr__(self, "about", (*self.about, *(part for part in found if part not in self.about)))
        object.__setattr__(self, "numbers", FrozenMapping(self.numbers))

    def named(self, kind: str) -> list[str]:
        """The names of the parts of a kind."""
        return [part.name for part in self.about if part.kind == kind]

    def __str__(self) -> str:
        names = {part.kind: ", ".join(self.named(part.kind)) for part in self.about}
        sentence = SENTENCES[self.name].format(**names, **self.numbers, **_told(self.finding)).strip()
        if self.name in ("division", "edge of domain") and "constraint" in names:
            sentence += _PRESCRIBED.format(constraint=", ".join(f"`{name}`" for name in self.named("constraint")))
        return sentence

    _repr_html_ = html


def _told(finding: Finding | None) -> dict[str, str]:
    """The problem and the advice of a finding, as text."""
    if finding is None:
        return {}
    return {"problem": finding.problem, "advice": Finding("", finding.advice).written()}


def cause_of(found: VinculumError | str) -> Cause:
    """The cause that an error or a sentence of another stage tells."""
    findings = [Finding(found)] if isinstance(found, str) else found.findings
    return Cause("refused", finding=findings[0] if len(findings) == 1 else Finding(str(found)))


@dataclass(frozen=True)
class Outcome:
    """How a run ended: the ``kind``, the ``time`` it reached, and the ``cause``; true if it ended as requested.

    Kinds: finished; event (a terminal event); interrupted (Ctrl-C); singular (accelerations no longer
    determined); chart left (the states of the form no longer determine the velocities); non-finite (an operation left
    its domain); stalled (the step size went to zero); law failed (a control law gave no usable inputs); diverged (the
    state of a loop that a processor closes grows without bound); inaccurate (the end was reached, but the energy
    balance or a constraint is lost: see `simulation.trajectory.accuracy`).

    Your own method may give a sentence as the cause; it is shown unchanged.
    """

    kind: str
    time: float
    cause: Cause = field(default_factory=Cause)
    # time and state after a step that was rejected
    beyond: tuple[float, Any] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.kind not in (*KINDS, REPIVOT, CORNER):
            raise VinculumError(f"There is no kind of outcome {self.kind!r}. Use one of {', '.join(KINDS)}.")
        if isinstance(self.cause, str):  # a sentence
            object.__setattr__(self, "cause", cause_of(self.cause) if self.cause else Cause())

    @property
    def reason(self) -> str:
        """The cause as a sentence."""
        return str(self.cause)

    @property
    def about(self) -> tuple[About, ...]:
        """The parts of the model that the cause concerns: an event, an expression, a constraint, ..."""
        return tuple(self.cause.about)

    @property
    def numbers(self) -> Mapping[str, float]:
        """The numbers of the cause."""
        return self.cause.numbers

    def __bool__(self) -> bool:
        return self.kind in (FINISHED, EVENT)

    def __str__(self) -> str:
        return f"{self.kind} at t = {self.time:.6g}: {self.reason}"

    _repr_html_ = html


def finished(time: float) -> Outcome:
    """The run reached its end."""
    return Outcome(FINISHED, time, Cause("end of interval"))


def ended_by(event: str, time: float) -> Outcome:
    """A terminal event ended the run."""
    return Outcome(EVENT, time, Cause("terminal event", [About("event", event)]))


def jumped(time: float, beyond: tuple[float, Any]) -> Outcome:
    """A step passed the zero of a pivot; the run continues from before the step."""
    return Outcome(REPIVOT, time, Cause("pivot jumped"), beyond)


# -- in files ----------------------------------------------------------------------------------------------------


def to_json(outcome: Outcome) -> list[Any]:
    """Kind, time and reason, then the data of the cause."""
    cause = outcome.cause
    data = {"cause": cause.name, "about": [list(part) for part in cause.about], "numbers": dict(cause.numbers)}
    return [outcome.kind, outcome.time, outcome.reason, data | _told(cause.finding)]


def from_json(stored: Sequence[Any]) -> Outcome:
    """The outcome in a file; older files have only kind, time and reason."""
    kind, time, reason, *further = stored
    if not further:
        return Outcome(kind, time, cause_of(reason))
    data = further[0]
    finding = Finding(data["problem"], [data["advice"]] if data["advice"] else []) if "problem" in data else None
    return Outcome(kind, time, Cause(data["cause"], [About(*part) for part in data["about"]], data["numbers"], finding))
