"""Many runs of the same equations: starts and parameters varied, in lanes, threads and Dask workers."""

from vinculum.ensembles.plan import Study, plan_study, study

__all__ = ["Study", "plan_study", "study"]
