"""``vinculum schema``: the JSON schema of model files."""

from __future__ import annotations

from vinculum.cli.codes import DONE
from vinculum.cli.options import Force, Output


def schema(output: Output = None, force: Force = False) -> int:
    """Print the JSON schema of model files, for editors.

    \b
    Example:
      vinculum schema -o vinculum.schema.json
    """
    from vinculum.cli.output import free_place, written
    from vinculum.model.schema.schema import schema_text

    free_place(output, force, (".json",))
    if output is None:
        print(schema_text(), end="")
    else:
        written(output, schema_text())
    return DONE
