"""Formulas of model files: parsed by a whitelist, never executed."""
