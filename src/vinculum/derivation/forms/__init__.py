"""One file for each form of the equations of motion. Importing the folder imports every file and so every form."""

from importlib import import_module
from pkgutil import iter_modules

from vinculum.derivation.forms.form import FORMS, Form, build_form, find_form, form_names, register

__all__ = ["FORMS", "Form", "build_form", "find_form", "form_names", "register"]

for _file in iter_modules(__path__):
    import_module(f"{__name__}.{_file.name}")
