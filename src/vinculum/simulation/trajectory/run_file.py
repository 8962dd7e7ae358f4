"""Run files: NetCDF in its classic format, with a checksum of all its bytes.

The classic format has no compression and no references, so a file of n bytes needs memory of the order of n bytes,
whoever wrote it. Names and text attributes are UTF-8. The attribute ``checksum`` is the SHA-256 of the whole file with
zeros in the place of this attribute, so a changed byte anywhere is noticed, in padding too.
"""

from __future__ import annotations

import hashlib
import io
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vinculum.errors import FileError

if TYPE_CHECKING:
    import xarray as xr

_CLASSIC = (b"CDF\x01", b"CDF\x02")
_HDF5 = b"\x89HDF"
_BROKEN = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, AssertionError, MemoryError,
           RecursionError, EOFError, UnicodeError)  # fmt: skip


def to_bytes(dataset: xr.Dataset) -> bytes:
    """A dataset of float columns over one dimension as a NetCDF file, with the attribute ``checksum``."""
    from scipy.io import netcdf_file

    mark = f"sha256:{secrets.token_hex(32)}"  # occurs once, where the checksum will be
    made, stream = dataset.assign_attrs(checksum=mark), io.BytesIO()
    with netcdf_file(stream, "w", version=2) as file:
        for name, size in made.sizes.items():
            file.createDimension(_stored(str(name)), size)
        for name, column in made.variables.items():
            variable = file.createVariable(_stored(str(name)), "f8", tuple(_stored(str(d)) for d in column.dims))
            variable[:] = column.values
        for name, value in made.attrs.items():
            setattr(file, name, value.encode() if isinstance(value, str) else np.float64(value))
        file.flush()
        content = stream.getvalue()
    return content.replace(mark.encode(), checksum(content, mark).encode())


def from_bytes(content: bytes, path: str | Path) -> xr.Dataset:
    """The dataset in a file; raises `FileError` if it is not a run file, or not as it was written."""
    if content[:4] == _HDF5:
        raise FileError(
            f"{str(path)!r} is not a trajectory: it is an HDF5 file, from another program or an older Vinculum. "
            "Simulate the motion again and save it with motion.save(...)."
        )
    if content[:4] not in _CLASSIC:
        raise foreign(path)
    try:
        found = _read(content)
        expected = found.attrs.pop("checksum", None)
        if "columns" not in found.attrs and expected is None:
            raise foreign(path)
        intact = isinstance(expected, str) and expected == checksum(content, expected)
    except _BROKEN as error:
        raise damaged(path) from error
    if not intact:
        raise damaged(path)
    return found


def foreign(path: str | Path) -> FileError:
    """The file was not written by us."""
    return FileError(f"{str(path)!r} is not a trajectory: it was not written by motion.save(...).")


def damaged(path: str | Path) -> FileError:
    """The file was changed."""
    return FileError(
        f"{str(path)!r} is damaged: its bytes do not match its checksum. Use a copy, or simulate the motion again."
    )


def checksum(content: bytes, own: str) -> str:
    """SHA-256 of a file with zeros in place of the stored checksum."""
    return f"sha256:{hashlib.sha256(content.replace(own.encode(), bytes(len(own)), 1)).hexdigest()}"


def _read(content: bytes) -> xr.Dataset:
    """Names, columns and attributes of a classic file."""
    import xarray as xr
    from scipy.io import netcdf_file

    with netcdf_file(io.BytesIO(content), "r", mmap=False) as file:
        columns = {}
        for name, variable in file.variables.items():
            dims = tuple(map(_read_name, variable.dimensions))
            if len(dims) != 1 or variable.data.dtype.str != ">f8" or variable._attributes:
                raise ValueError(f"{name} is not a column of numbers")
            columns[_read_name(name)] = (dims, np.array(variable.data, dtype=float))
        attributes = {_read_name(name): _attribute(value) for name, value in file._attributes.items()}
        dimensions = list(map(_read_name, file.dimensions))
    coordinates = {name: columns.pop(name) for name in dimensions}  # the time
    return xr.Dataset(columns, coords=coordinates, attrs=attributes)


def _attribute(value: Any) -> str | float:
    """Text, or one number."""
    return value.decode() if isinstance(value, bytes) else float(value)


def _stored(name: str) -> str:
    """A name for SciPy, which encodes names as Latin-1: one character for each byte of UTF-8."""
    return name.encode().decode("latin-1")


def _read_name(name: str) -> str:
    """The name that was stored."""
    return name.encode("latin-1").decode()
