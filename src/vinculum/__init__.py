"""Vinculum: constrained mechanical systems, from energies and constraints to a checked simulation.

State a system, derive its equations in a classical form, and simulate them without drift:

    >>> import sympy as sp
    >>> import vinculum as vn
    >>> from sympy.physics.mechanics import dynamicsymbols
    >>> x, y = dynamicsymbols("x y")
    >>> m, g, l = sp.symbols("m g l")
    >>> pendulum = vn.System(
    ...     coordinates=[x, y],
    ...     kinetic_energy=m * (x.diff() ** 2 + y.diff() ** 2) / 2,
    ...     potential_energy=m * g * y,
    ...     constraints=[vn.Holonomic((x**2 + y**2 - l**2) / 2, name="rod")],
    ...     parameters={m: 1.0, g: 9.81, l: 1.0},
    ... )
    >>> equations = vn.derive(pendulum, form="lyapunov")
    >>> equations.reactions["rod"]
    (g*y(t) - Derivative(x(t), t)**2 - Derivative(y(t), t)**2)/(x(t)**2/m + y(t)**2/m)
    >>> motion = vn.simulate(equations, initial={x: 0.6, y: -0.8}, times=(0, 10))
    >>> motion.energy_error < 1e-13 and max(motion.largest_residuals.values()) < 1e-13
    True

The names below are for everyday use. The others are in modules by subject (`vn.bodies`, `vn.motors`, `vn.servo`,
`vn.program`, `vn.quasi`, `vn.linear`, `vn.hurwitz`, `vn.feedback`, `vn.vary`, `vn.measure`, `vn.errors`) and in the
packages of each stage, such as `vn.simulation` and `vn.model`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from vinculum.hooks import provide

if TYPE_CHECKING:  # the same names for type checkers and editors
    from vinculum.analyze import equilibrium as equilibrium
    from vinculum.analyze import linearize as linearize
    from vinculum.analyze import stability as stability
    from vinculum.analyze import steady as steady
    from vinculum.control import close_loop as close_loop
    from vinculum.control import observe as observe
    from vinculum.control import stabilize as stabilize
    from vinculum.control.digital import Digital as Digital
    from vinculum.derivation import Chaplygin as Chaplygin
    from vinculum.derivation import EquationsOfMotion as EquationsOfMotion
    from vinculum.derivation import Hamel as Hamel
    from vinculum.derivation import LurieSuslov as LurieSuslov
    from vinculum.derivation import Lyapunov as Lyapunov
    from vinculum.derivation import Maggi as Maggi
    from vinculum.derivation import Multipliers as Multipliers
    from vinculum.derivation import Program as Program
    from vinculum.derivation import Routh as Routh
    from vinculum.derivation import Shulgin as Shulgin
    from vinculum.derivation import Voronets as Voronets
    from vinculum.derivation import derive as derive
    from vinculum.describe import AffineSystem as AffineSystem
    from vinculum.describe import Holonomic as Holonomic
    from vinculum.describe import Nonholonomic as Nonholonomic
    from vinculum.describe import Servo as Servo
    from vinculum.describe import System as System
    from vinculum.describe import random_signal as random_signal
    from vinculum.describe import signal as signal
    from vinculum.describe import spline as spline
    from vinculum.describe.bodies import Body as Body
    from vinculum.describe.bodies import BodyTree as BodyTree
    from vinculum.describe.bodies import from_urdf as from_urdf
    from vinculum.ensembles import fit as fit
    from vinculum.ensembles import optimize as optimize
    from vinculum.ensembles import study as study
    from vinculum.errors import ModelError as ModelError
    from vinculum.errors import VinculumError as VinculumError
    from vinculum.export import export_c as export_c
    from vinculum.export import export_fmu as export_fmu
    from vinculum.model.examine.examination import examine as examine
    from vinculum.model.load import load as load
    from vinculum.model.model import Model as Model
    from vinculum.names import reaction as reaction
    from vinculum.present.report import write_report as write_report
    from vinculum.simulation import BDF as BDF
    from vinculum.simulation import Adams as Adams
    from vinculum.simulation import Baumgarte as Baumgarte
    from vinculum.simulation import Event as Event
    from vinculum.simulation import Guaranteed as Guaranteed
    from vinculum.simulation import Projection as Projection
    from vinculum.simulation import RungeKutta as RungeKutta
    from vinculum.simulation import Sampled as Sampled
    from vinculum.simulation import Taylor as Taylor
    from vinculum.simulation import Trajectory as Trajectory
    from vinculum.simulation import Unstabilized as Unstabilized
    from vinculum.simulation import consistent_state as consistent_state
    from vinculum.simulation import read_trajectory as read_trajectory
    from vinculum.simulation import simulate as simulate

_PLACES = {
    # describe
    "System": "vinculum.describe",
    "Holonomic": "vinculum.describe",
    "Nonholonomic": "vinculum.describe",
    "Servo": "vinculum.describe",
    "AffineSystem": "vinculum.describe",
    "random_signal": "vinculum.describe",
    "signal": "vinculum.describe",
    "spline": "vinculum.describe",
    "Body": "vinculum.describe.bodies",
    "BodyTree": "vinculum.describe.bodies",
    "from_urdf": "vinculum.describe.bodies",
    # model files
    "load": "vinculum.model.load",
    "Model": "vinculum.model.model",
    # derive
    "derive": "vinculum.derivation",
    "EquationsOfMotion": "vinculum.derivation",
    "Multipliers": "vinculum.derivation",
    "Lyapunov": "vinculum.derivation",
    "LurieSuslov": "vinculum.derivation",
    "Shulgin": "vinculum.derivation",
    "Routh": "vinculum.derivation",
    "Voronets": "vinculum.derivation",
    "Chaplygin": "vinculum.derivation",
    "Hamel": "vinculum.derivation",
    "Maggi": "vinculum.derivation",
    "Program": "vinculum.derivation",
    # simulate
    "simulate": "vinculum.simulation",
    "consistent_state": "vinculum.simulation",
    "Taylor": "vinculum.simulation",
    "BDF": "vinculum.simulation",
    "RungeKutta": "vinculum.simulation",
    "Adams": "vinculum.simulation",
    "Baumgarte": "vinculum.simulation",
    "Sampled": "vinculum.simulation",
    "Projection": "vinculum.simulation",
    "Unstabilized": "vinculum.simulation",
    "Guaranteed": "vinculum.simulation",
    "Event": "vinculum.simulation",
    "reaction": "vinculum.names",
    "Trajectory": "vinculum.simulation",
    "read_trajectory": "vinculum.simulation",
    # analyze
    "equilibrium": "vinculum.analyze",
    "steady": "vinculum.analyze",
    "linearize": "vinculum.analyze",
    "stability": "vinculum.analyze",
    # control
    "stabilize": "vinculum.control",
    "observe": "vinculum.control",
    "close_loop": "vinculum.control",
    "Digital": "vinculum.control.digital",
    # export
    "export_c": "vinculum.export",
    "export_fmu": "vinculum.export",
    # many runs
    "study": "vinculum.ensembles",
    "fit": "vinculum.ensembles",
    "optimize": "vinculum.ensembles",
    # examine and present
    "examine": "vinculum.model.examine.examination",
    "write_report": "vinculum.present.report",
    # errors
    "VinculumError": "vinculum.errors",
    "ModelError": "vinculum.errors",
}
_STAGES = (
    # in order: each stage imports only from those above it
    "names",
    "graph",
    "describe",
    "derivation",
    "compile",
    "simulation",
    "ensembles",
    "analyze",
    "control",
    "export",
    "model",
    "present",
)
_PARTS = (
    # the other public names, by subject
    "bodies",
    "motors",
    "servo",
    "program",
    "quasi",
    "linear",
    "hurwitz",
    "feedback",
    "vary",
    "measure",
    "errors",
)
__all__ = list(_PLACES)
__version__ = "0.1.0"

provide("notebook table", "vinculum.present.records:html")
provide("notebook formula", "vinculum.present.mathml:displayed")
provide("plot of a motion", "vinculum.present.plots:over_time")
provide("picture of a motion", "vinculum.present.figures:save_picture")
provide("plot of a region", "vinculum.present.plots:region")
provide("Bode diagram", "vinculum.present.frequency_plots:bode")
provide("Nyquist diagram", "vinculum.present.frequency_plots:nyquist")
provide("run routine", "vinculum.compile.kernel:run_routine")
provide("animation", "vinculum.present.animation:animation")
provide("stepper", "vinculum.simulation.stepper:make_stepper")


def __getattr__(name: str) -> Any:
    """Import a public name or module at its first use: ``vn.System`` loads only the description stage."""
    if name in _PLACES:
        value = globals()[name] = getattr(import_module(_PLACES[name]), name)
        return value
    if name in _STAGES or name in _PARTS:
        return import_module(f"vinculum.{name}")
    deprecations = import_module("vinculum.deprecations")
    if name in deprecations.MOVED:
        return deprecations.moved(name)
    raise AttributeError(f"module 'vinculum' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_STAGES, *_PARTS, "__version__"]
