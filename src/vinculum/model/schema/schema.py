"""The JSON schema of model files, from the same table of keys by which they are read.

``schema.json`` beside this file is what it gives; editors complete and check model files with it. To write it anew:
``vinculum schema -o src/vinculum/model/schema/schema.json --force``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from vinculum.model.schema.layout import MODEL

FILE = Path(__file__).with_name("schema.json")
NAME = "urn:vinculum:model"


def schema() -> dict[str, Any]:
    """The schema as a dictionary; exactly one kind of mechanism is asked for."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": NAME, "title": "Vinculum model"}
    return head | MODEL.schema() | {"oneOf": [{"required": [kind]} for kind in ("system", "tree", "affine")]}


def schema_text() -> str:
    """The schema as it is stored."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"
