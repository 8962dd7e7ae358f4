"""Formulas of model files: parsed with a whitelist, never executed."""
