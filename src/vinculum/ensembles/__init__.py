"""Many runs of the same equations: starts and parameters varied, in lanes, threads and Dask workers; derivatives of
motions, and what follows from them: identification and optimal choices.
"""

from typing import TYPE_CHECKING

from vinculum.late import late

if TYPE_CHECKING:  # the same names for type checkers and editors
    from vinculum.ensembles.derivatives import Sensitivity as Sensitivity
    from vinculum.ensembles.derivatives import sensitivity as sensitivity
    from vinculum.ensembles.identification import Fit as Fit
    from vinculum.ensembles.identification import fit as fit
    from vinculum.ensembles.optimization import Optimum as Optimum
    from vinculum.ensembles.optimization import optimize as optimize
    from vinculum.ensembles.plan import Study as Study
    from vinculum.ensembles.plan import plan_study as plan_study
    from vinculum.ensembles.plan import study as study
    from vinculum.ensembles.store import read_study as read_study

_NAMES = {
    "plan": ("study", "plan_study", "Study"),
    "store": ("read_study",),
    "derivatives": ("sensitivity", "Sensitivity"),
    "identification": ("fit", "Fit"),
    "optimization": ("optimize", "Optimum"),
}
_PLACES = {name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names}

__all__ = list(_PLACES)
__getattr__ = late(__name__, _PLACES)
