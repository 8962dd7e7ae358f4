"""The front door of the export to FMI."""

from __future__ import annotations

import math
import tempfile
import uuid
import zipfile
from collections.abc import Mapping, Sequence
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any

import sympy as sp

from vinculum.errors import VinculumError
from vinculum.export.c_code import literal
from vinculum.export.c_units import equations_unit, refuse_options
from vinculum.export.equation_kernels import EquationKernels
from vinculum.export.fmu.compiler import PLATFORMS, compile_library, refuse_platforms, this_platform
from vinculum.export.fmu.description import Described, build_description, description_2, description_3
from vinculum.export.fmu.variables import Layout, make_layout
from vinculum.export.identifiers import identifier
from vinculum.export.plant import make_plant
from vinculum.simulation.problem.events import DIRECTIONS
from vinculum.simulation.stabilization.stabilization import AFTER_STEPS, HELD
from vinculum.units.given import duration
from vinculum.writing import refuse_place, write_file

VERSIONS = ("2.0", "3.0")
_DATE = (1980, 1, 1, 0, 0, 0)  # the same files give the same bytes


def export_fmu(
    what: Any,
    path: str | Path,
    *,
    version: str = "2.0",
    step: float = 1e-3,
    stop: float | None = None,
    units: Mapping[sp.Expr, str] | None = None,
    meanings: Mapping[sp.Expr, str] | None = None,
    binary: bool = True,
    platforms: Sequence[str] = (),
    overwrite: bool = False,
    **options: Any,
) -> Path:
    """Write a functional mock-up unit of FMI 2.0 or 3.0, for model exchange and co-simulation.

    ``what`` are equations, a closed loop or a system. Its parameters, with ``units``, are parameters of the FMU; its
    free inputs are inputs; coordinates, velocities, accelerations and reactions are outputs. Start values are made
    consistent with the constraints inside: those of ``initial`` are kept, the others are first guesses. Co-simulation
    takes steps of at most ``step`` with ``method``; constraints are held by ``stabilization`` ("sampled", "projection",
    ``Baumgarte(rate=...)``). In model exchange continuous feedback is part of the rates, and with every other
    stabilization but "none" the states are projected in an event when residuals exceed 1e-9. ``events`` and corners of
    forces are event indicators; a terminal event ends the simulation.

    The file has the sources and, with ``binary``, a library for this machine made by cc, gcc, clang or zig;
    ``platforms`` adds others, such as "x86_64-windows", with zig. Further options: ``initial``, ``guess``, ``fixed``,
    ``inputs`` (laws), ``parameters``, ``events``, ``method``, ``stabilization``. A file that exists is replaced
    only with ``overwrite=True``.
    """
    path = Path(path).with_suffix(".fmu")
    refuse_place(path, overwrite)
    wanted = tuple(dict.fromkeys(([this_platform()] if binary else []) + list(platforms)))
    step, stop = duration(step, "step"), duration(stop, "stop")
    _refuse(version, step)
    refuse_platforms(wanted)
    refuse_options(make_plant, options)
    kernels = EquationKernels(make_plant(what, **options), False, units)
    texts, described = fmu_texts(kernels, identifier(path.stem), version, step, stop, units or {}, meanings or {})
    with tempfile.TemporaryDirectory() as folder:
        libraries = {name: _library(Path(folder), name, texts, described, version) for name in wanted}
    write_file(path, _packed(texts, libraries), overwrite=overwrite)
    return path


def _refuse(version: str, step: float) -> None:
    if version not in VERSIONS:
        raise VinculumError(f"version={version!r} is not a version of FMI that can be written. Use 2.0 or 3.0.")
    if not (math.isfinite(step) and step > 0):
        raise VinculumError(f"step={step} must be a positive number of seconds.")


def fmu_texts(
    kernels: EquationKernels,
    name: str,
    version: str,
    step: float,
    stop: float | None,
    units: Mapping[sp.Expr, str],
    meanings: Mapping[sp.Expr, str],
) -> tuple[dict[str, str], Described]:
    """The text files of an FMU by their paths in it."""
    unit = equations_unit(kernels, "model", "double")
    layout = make_layout(kernels, step, units, meanings)
    wrapper = f"fmi{version[0]}.c"
    sources = {"model.h": unit.header, "model.c": unit.source, "fmu.h": fmu_header(kernels, layout, step)}
    sources |= {file: (files("vinculum.export.fmu") / file).read_text(encoding="utf-8")
                for file in ("instance.h", "instance.c", "shared.h", wrapper)}  # fmt: skip
    write = description_2 if version == "2.0" else description_3
    title, compiled = kernels.plant.integrable.name, ("model.c", "instance.c", wrapper)
    described = Described(title, name, "", layout, len(kernels.events.outputs), step, stop, compiled)
    token = f"{{{uuid.uuid5(uuid.NAMESPACE_OID, ''.join(sources.values()) + write(described))}}}"
    described = Described(title, name, token, layout, described.events, step, stop, compiled)
    sources["guid.h"] = f'#define FMU_GUID "{token}"\n'
    texts = {"modelDescription.xml": write(described)} | {f"sources/{key}": text for key, text in sources.items()}
    if version == "3.0":
        texts["sources/buildDescription.xml"] = build_description(described)
    return texts, described


def fmu_header(kernels: EquationKernels, layout: Layout, step: float) -> str:
    """Value references, start values and events, for instance.c."""
    plant, events = kernels.plant, kernels.plant.nodes.events
    acts, prescribed = plant.stabilization.acts, plant.integrable.prescribed is not None
    projects = len(kernels.c) > 0 and acts in (AFTER_STEPS, HELD) and not prescribed
    lines = [f"#define VR_{key} {value}u" for key, value in layout.first.items()]
    lines += [
        f"#define FMU_STEP {literal(step)}",
        f"#define FMU_ENERGY {int(kernels.energy is not None)}",
        f"#define FMU_USER_EVENTS {len(events)}",
        f"#define FMU_PROJECT {int(projects)}",
        _integers("fmu_state_of", layout.state_of),
        _integers("fmu_other", layout.other),
        _integers("fmu_held", [int(node in plant.given) for node in kernels.s.nodes]),
        _integers("fmu_terminal", [int(event.terminal) for event in events]),
        _integers("fmu_direction", [DIRECTIONS[event.direction] for event in events]),
        _numbers("fmu_start", [plant.values[node] for node in kernels.s.nodes]),
        _numbers("fmu_inputs", [plant.values[node] for node in kernels.u.nodes]),
    ]
    return "/* What instance.c needs to know about the model. */\n\n" + "\n".join(lines) + "\n"


def _integers(name: str, values: Sequence[int]) -> str:
    return f"static const int {name}[] = {{{', '.join(map(str, values)) or '0'}}};"


def _numbers(name: str, values: Sequence[float]) -> str:
    return f"static const double {name}[] = {{{', '.join(map(literal, values)) or '0'}}};"


def _library(folder: Path, name: str, texts: Mapping[str, str], model: Described, version: str) -> tuple[str, bytes]:
    """The path in the FMU and the bytes of a compiled library."""
    older, ending, _ = PLATFORMS[name]
    place = folder / name
    place.mkdir()
    for key, text in texts.items():
        if key.startswith("sources/"):
            (place / Path(key).name).write_text(text, encoding="utf-8")
    target = place / f"{model.identifier}{ending}"
    compile_library([place / source for source in model.sources], target, name)
    return f"binaries/{older if version == '2.0' else name}/{target.name}", target.read_bytes()


def _packed(texts: Mapping[str, str], libraries: Mapping[str, tuple[str, bytes]]) -> bytes:
    """The files in one archive."""
    contents = {key: text.encode() for key, text in texts.items()} | dict(libraries.values())
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for key, data in sorted(contents.items()):
            info = zipfile.ZipInfo(key, _DATE)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(info, data)
    return packed.getvalue()
