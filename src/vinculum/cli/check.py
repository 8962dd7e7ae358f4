"""``vinculum check``: all that is wrong with a model file, at once."""

from __future__ import annotations

from vinculum.cli.codes import DONE, WRONG
from vinculum.cli.options import Json, ModelFile, Set


def check(model: ModelFile, settings: Set = None, json: Json = False) -> int:
    """Say all that is wrong with a model file.

    \b
    Example:
      vinculum check model.toml
    """
    from vinculum.cli.models import opened
    from vinculum.cli.output import as_json
    from vinculum.describe.files.problems import ModelFileError

    try:
        found = opened(model, settings)
    except ModelFileError as error:
        if not json:
            raise
        keys = ("line", "column", "key", "message", "excerpt", "start", "end")
        print(as_json({"file": str(model), "problems": [{k: getattr(p, k) for k in keys} for p in error.problems]}))
        return WRONG
    if json:
        print(as_json({"file": str(model), "problems": []}))
    else:
        print(f"{model}: no problem was found.\n{found.system}")
    return DONE
