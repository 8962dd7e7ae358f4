"""Exit codes that scripts can trust, and the one place where errors become them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import typer

DONE, NO, WRONG, REFUSED, INTERRUPTED = 0, 1, 2, 3, 130


class Wrong(Exception):
    """Something the user can put right on the command line; the message says how."""


def guarded(command: Callable[..., int | None]) -> Callable[..., None]:
    """A command whose number is its exit code, and whose errors are sentences."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            code = command(*args, **kwargs) or DONE
            sys.stdout.flush()
        except KeyboardInterrupt:
            tell("Interrupted.")
            code = INTERRUPTED
        except BrokenPipeError:  # the reader of a pipe has gone, as in `vinculum derive ... | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = DONE
        except (Wrong, OSError, ValueError) as error:
            code = _code_of(error)
        raise typer.Exit(code)

    return run


def _code_of(error: Exception) -> int:
    """Say what was wrong; a bug goes on as it is, with its traceback."""
    if isinstance(error, (Wrong, OSError)):
        tell(str(error))
        return WRONG
    from vinculum.errors import VinculumError
    from vinculum.model.text.file_words import in_file_words
    from vinculum.model.text.problems import ModelFileError

    if not isinstance(error, VinculumError):
        raise error
    if isinstance(error, ModelFileError):
        tell(str(error))
        return WRONG
    tell(in_file_words(error))
    return REFUSED


def tell(message: str) -> None:
    """A sentence on the error stream."""
    print(message, file=sys.stderr)
