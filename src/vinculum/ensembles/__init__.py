"""Many runs of the same equations: starts and parameters varied, in lanes, threads and Dask workers; derivatives of
motions, and what follows from them: identification and optimal choices.
"""

from vinculum.ensembles.identification import Fit, fit
from vinculum.ensembles.optimization import Optimum, optimize
from vinculum.ensembles.plan import Study, plan_study, study
from vinculum.ensembles.store import read_study
from vinculum.ensembles.variational import Sensitivity, sensitivity

__all__ = [
    "study",
    "plan_study",
    "read_study",
    "Study",
    "sensitivity",
    "Sensitivity",
    "fit",
    "Fit",
    "optimize",
    "Optimum",
]
