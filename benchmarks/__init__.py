"""Vinculum side by side with what its users do today, in one run.

models    the mechanisms, stated once in SymPy for both sides
peers     the same work with SymPy and SciPy alone
measure   timing, tables, growth curves
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # processor time would count threads that wait
