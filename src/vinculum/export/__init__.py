"""Code and files for other tools: C, FMU, Python, JavaScript, Modelica, MATLAB."""

from vinculum.export.export_c import export_c
from vinculum.export.export_js import export_javascript
from vinculum.export.export_modelica import export_modelica
from vinculum.export.export_python import export_python
from vinculum.export.fmu.export_fmu import export_fmu
from vinculum.export.mat import export_mat

__all__ = ["export_c", "export_fmu", "export_python", "export_javascript", "export_modelica", "export_mat"]
