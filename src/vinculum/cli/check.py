"""``vinculum check``: all that is wrong with a model file, at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vinculum.cli.codes import DONE, WRONG
from vinculum.cli.options import Json, ModelFile, Set

if TYPE_CHECKING:
    from vinculum.model.text.problems import Problem


def check(model: ModelFile, settings: Set = None, json: Json = False) -> int:
    """Say all that is wrong with a model file.

    \b
    Example:
      vinculum check model.toml
    """
    from vinculum.cli.models import opened
    from vinculum.cli.output import as_json
    from vinculum.model.text.problems import ModelFileError

    try:
        found = opened(model, settings)
    except ModelFileError as error:
        if not json:
            raise
        print(as_json(_problem_data(model, error.problems)))
        return WRONG
    print(as_json(_problem_data(model, ())) if json else f"{model}: no problem was found.\n{found.system}")
    return DONE


def _problem_data(path: Path, problems: Sequence[Problem]) -> dict[str, Any]:
    keys = ("line", "column", "key", "message", "excerpt", "start", "end")
    return {"file": str(path), "problems": [{key: getattr(problem, key) for key in keys} for problem in problems]}
