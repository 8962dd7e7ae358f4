"""Code and files for other tools: C, FMU, Python, MATLAB."""

from vinculum.export.export_c import export_c

__all__ = ["export_c"]
