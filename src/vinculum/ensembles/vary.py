"""What varies from run to run: grids of values, random samples, or the rows of a table.

The runs are all combinations of the grids and the samples, the last one fastest. Row i of every column belongs to run
i. Which values a run gets depends on the seed alone, not on how the runs are divided among threads or machines.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import sympy as sp

from vinculum.errors import ModelError, VinculumError
from vinculum.expressions import by_symbol
from vinculum.frozen import FrozenMapping
from vinculum.names import name_of, variable_name

SAMPLINGS = ("random", "latin", "sobol")


@runtime_checkable
class Distribution(Protocol):
    """Anything with the inverse of a distribution function, such as a frozen distribution of `scipy.stats`."""

    def ppf(self, q: Any, /) -> Any:
        """The value below which a share q of all values lies."""


@dataclass(frozen=True)
class Uniform:
    """Equally likely values between ``low`` and ``high``."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise VinculumError(f"uniform({self.low}, {self.high}) needs two finite numbers, the smaller one first.")

    def ppf(self, q: Any) -> Any:
        """low + q (high - low)."""
        return self.low + np.asarray(q) * (self.high - self.low)


@dataclass(frozen=True)
class Normal:
    """Normally distributed values."""

    mean: float
    deviation: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mean) and math.isfinite(self.deviation) and self.deviation > 0):
            raise VinculumError(
                f"normal({self.mean}, {self.deviation}) needs a finite mean and a positive standard deviation."
            )

    def ppf(self, q: Any) -> Any:
        """mean + deviation Φ⁻¹(q)."""
        from scipy.special import ndtri

        return self.mean + self.deviation * ndtri(q)


def column_name(key: Any) -> str:
    """The name of a varied quantity in the results: ``m`` for a parameter, ``initial_x`` for a start."""
    return str(key.name) if isinstance(key, sp.Symbol) else f"initial_{variable_name(key)}"


def uniform(low: float, high: float) -> Uniform:
    """Equally likely values between ``low`` and ``high``, for `study`."""
    return Uniform(_number(low), _number(high))


def normal(mean: float, deviation: float) -> Normal:
    """Normally distributed values, for `study`."""
    return Normal(_number(mean), _number(deviation))


def _number(given: Any) -> float:
    try:
        return float(given)
    except (TypeError, ValueError):
        raise VinculumError(f"A distribution needs numbers in SI units; got {given!r}.") from None


@dataclass(frozen=True, eq=False)
class Variation:
    """The columns of a study: for each varied quantity its value in every run."""

    dimensions: Mapping[str, int]  # name and size, in order; the product of the sizes is the number of runs
    columns: Mapping[Hashable, np.ndarray]  # (runs)
    along: Mapping[Hashable, str]  # the dimension along which a column varies

    def __post_init__(self) -> None:
        for name in ("dimensions", "columns", "along"):
            object.__setattr__(self, name, FrozenMapping(getattr(self, name)))

    @property
    def runs(self) -> int:
        """The number of runs."""
        return math.prod(self.dimensions.values())

    @cached_property
    def coordinates(self) -> dict[str, tuple[str, np.ndarray]]:
        """{name: (dimension, values along it)}."""
        shape, names = tuple(self.dimensions.values()), list(self.dimensions)
        found = {}
        for key, column in self.columns.items():
            axis = names.index(self.along[key])
            first = tuple(slice(None) if k == axis else 0 for k in range(len(shape)))
            found[column_name(key)] = (self.along[key], column.reshape(shape)[first])
        return found


def by_symbols(columns: Mapping[Any, Any], known: Iterable[Any]) -> dict[Any, Any]:
    """Columns with the quantities themselves for their names, such as "x", "x_dot", "initial_x" or "m"."""
    return by_symbol(columns, {name: key for key in known for name in (column_name(key), variable_name(key))}, "over")


def vary(over: Any, samples: int | None, seed: int, sampling: str) -> Variation:
    """The runs of ``over`` = {quantity: values or distribution}."""
    _refuse_seed(seed)
    if not isinstance(over, Mapping) or not over:
        raise VinculumError("Nothing to vary. Pass over={quantity: values, ...}, values or a distribution for each.")
    drawn = {key: given for key, given in over.items() if isinstance(given, Distribution)}
    grids = {key: _grid(key, given) for key, given in over.items() if key not in drawn}
    _refuse_sampling(drawn, samples, sampling)
    _refuse_same_names([*map(column_name, over), *(["sample"] if drawn else [])])
    sizes = {column_name(key): len(values) for key, values in grids.items()}
    if drawn:
        assert samples is not None
        sizes["sample"] = int(samples)
    columns = dict(zip(grids, _combined(list(grids.values()), sizes), strict=True))
    if drawn:
        q = _shares(len(drawn), sizes["sample"], seed, sampling)
        copies = math.prod(sizes.values()) // sizes["sample"]
        columns |= {key: np.tile(_values(key, given, q[:, k]), copies) for k, (key, given) in enumerate(drawn.items())}
    along = {key: column_name(key) for key in grids} | dict.fromkeys(drawn, "sample")
    return Variation(sizes, {key: columns[key] for key in over}, along)


def table(rows: Mapping[Hashable, Sequence[float]]) -> Variation:
    """One run for every row of a table {quantity: column}."""
    return _table({key: _column(key, column) for key, column in rows.items()})


def _column(key: Any, given: Any) -> np.ndarray:
    try:
        values = _real(given)
        if values.ndim == 1:
            return values
    except (TypeError, ValueError):
        pass
    raise VinculumError(f"The column {name_of(key)} of a table must be a list of real numbers; got {given!r}.")


def _real(given: Any) -> np.ndarray:
    """Numbers as an array; complex ones raise."""
    if np.iscomplexobj(given):
        raise TypeError("complex numbers")
    return np.array(given, dtype=float)


def _table(columns: Mapping[Hashable, np.ndarray]) -> Variation:
    lengths = {name_of(key): len(column) for key, column in columns.items()}
    if len(set(lengths.values())) != 1 or 0 in lengths.values():
        raise VinculumError(f"The columns of a table must have the same length, at least one; they have {lengths}.")
    _refuse_values(columns)
    size = next(iter(lengths.values()))
    return Variation({"run": size}, dict(columns), dict.fromkeys(columns, "run"))


def _grid(key: Any, given: Any) -> np.ndarray:
    try:
        values = np.atleast_1d(_real(given))
        if values.ndim > 1:
            raise ValueError("a table of numbers")
    except (TypeError, ValueError):
        raise VinculumError(
            f"{name_of(key)} varies over {given!r}. Give a list of numbers, or a distribution such as uniform(0, 1)."
        ) from None
    if not len(values):
        raise VinculumError(f"{name_of(key)} varies over an empty list. Give at least one number.")
    _refuse_values({key: values})
    return values


def _refuse_same_names(names: Sequence[str]) -> None:
    """Raise for two quantities that would be the same dimension of the results."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise VinculumError(
            f"Two dimensions of the results would be called {twice}; they are {', '.join(names)}. Rename the parameter."
        )


def _refuse_seed(seed: Any) -> None:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise VinculumError(f"seed={seed!r} must be a whole number, at least 0.")


def _refuse_values(columns: Mapping[Any, np.ndarray]) -> None:
    bad = [f"{name_of(key)} has values that are not finite." for key, c in columns.items() if not np.isfinite(c).all()]
    if bad:
        raise ModelError("Invalid values in over=", bad)


def _refuse_sampling(drawn: Mapping[Any, Any], samples: int | None, sampling: str) -> None:
    if sampling not in SAMPLINGS:
        raise VinculumError(f"sampling={sampling!r} is not known. Use {', '.join(map(repr, SAMPLINGS))}.")
    if drawn and not _is_count(samples):
        names = ", ".join(map(name_of, drawn))
        raise VinculumError(f"{names} is drawn from a distribution; give the number of samples, as in samples=1000.")
    if samples is not None and not drawn:
        raise VinculumError("samples was given, but nothing in over= has a distribution. Leave samples out.")


def _is_count(number: Any) -> bool:
    """Whether it is a positive whole number, such as 100 or 1e5."""
    if isinstance(number, bool) or not isinstance(number, int | float | np.integer | np.floating):
        return False
    return float(number).is_integer() and float(number) >= 1


def _combined(grids: Sequence[np.ndarray], sizes: Mapping[str, int]) -> list[np.ndarray]:
    """Each grid repeated so that all combinations occur, the last dimension fastest."""
    shape = tuple(sizes.values())
    spread = []
    for axis, values in enumerate(grids):
        own = [-1 if k == axis else 1 for k in range(len(shape))]
        spread.append(np.ascontiguousarray(np.broadcast_to(values.reshape(own), shape)).reshape(-1))
    return spread


def _shares(count: int, samples: int, seed: int, sampling: str) -> np.ndarray:
    """Points in the unit cube, (samples, count)."""
    if sampling == "random":
        return np.random.default_rng(seed).random((samples, count))
    if sampling == "latin":
        return _latin_hypercube(count, samples, seed)
    from scipy.stats import qmc  # takes half a second to import

    sobol = qmc.Sobol(count, seed=np.random.default_rng(seed))
    return sobol.random_base2(math.ceil(math.log2(samples)))[:samples] if samples > 1 else sobol.random(1)


def _latin_hypercube(count: int, samples: int, seed: int) -> np.ndarray:
    """One point in each of the ``samples`` strips of every axis (McKay et al. 1979); those of `scipy.stats.qmc`."""
    random = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])  # as in SciPy
    inside = random.uniform(size=(samples, count))
    strips = np.tile(np.arange(1, samples + 1), (count, 1))
    for axis in strips:
        random.shuffle(axis)
    return (strips.T - inside) / samples


def _values(key: Any, given: Distribution, q: np.ndarray) -> np.ndarray:
    values = np.asarray(given.ppf(q), dtype=float)
    if values.shape != q.shape or not np.isfinite(values).all():
        raise VinculumError(f"The distribution {given!r} of {name_of(key)} gave values that are not finite numbers.")
    return values
