"""Many runs of the same equations: starts and parameters varied, in lanes, threads and Dask workers."""

from vinculum.ensembles.study import Study, study

__all__ = ["Study", "study"]
