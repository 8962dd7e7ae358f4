"""Vinculum side by side with what its users do today, in one run.

models    the mechanisms, stated once in SymPy for both sides
peers     the same work with SymPy and SciPy alone
measure   timing, tables, growth curves
"""
