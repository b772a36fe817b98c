"""Recipes of arguments: small, comparable, data in JSON. The same recipe gives the same argument, always a fresh one.

| recipe    | the argument                                   | JSON                                           |
|-----------|------------------------------------------------|------------------------------------------------|
| `Array`   | a tensor with values of a way and a seed       | `{"array": "float32", "shape": [2], "way": …}` |
| `Number`  | a number                                       | `{"number": "int32", "value": 3}`              |
| `Same`    | the tensor of an earlier argument              | `{"same": 0}`                                  |
| `ShapeOf` | a shape value of Relax                         | `{"shape": [2, 3]}`                            |
| `TupleOf` | a tuple of the arguments of other recipes      | `{"tuple": […]}`                               |

| form       | the tensor                                                        |
|------------|-------------------------------------------------------------------|
| `compact`  | compact and initialised                                           |
| `fresh`    | no element is initialised                                         |
| `partial`  | every second element is initialised                               |
| `strided`  | rows with a gap after each                                        |
| `locked`   | memory that may not be written                                    |
| `offset`   | two elements stand before it in its storage                       |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.lang.dtypes import DType, dtype
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Shape
from refmlc.strategies.contents import ASCENDING, CYCLE, FEW, UNIT, WAYS, contents, with_values

FORMS = ("compact", "fresh", "partial", "strided", "locked", "offset")
Data: TypeAlias = "dict[str, Data] | list[Data] | str | int | float | bool | None"


@dataclass(frozen=True)
class Array:
    """A tensor; integers lie in `low` … `high`; without `strides` the form decides them. Units: elements.

    `pool`: the values of the way `cycle`. `puts`: pairs of a flat place (from the end if negative) and its value, which
    stand in place of those of the way; a place that the tensor has not is left out.
    """

    dtype: DType
    shape: tuple[int, ...]
    way: str = "steps"
    seed: int = 0
    low: int = 0
    high: int = 0
    form: str = "compact"
    strides: tuple[int, ...] = ()
    pool: tuple[int | float, ...] = ()
    puts: tuple[tuple[int, int | float], ...] = ()

    def __str__(self) -> str:
        values = "" if self.form == "fresh" else f", {self.values().tolist()}"
        return f"{self.dtype}{list(self.shape)} {self.form}{values}"

    def values(self) -> NDArray[np.generic]:
        """The values as an array of NumPy's dtype for them."""
        values = contents(self.dtype, self.shape, self.way, self.seed, (self.low, self.high), self.pool)
        return with_values(self.dtype, values, self.puts) if self.puts else values

    def tensor(self) -> Tensor:
        """A fresh tensor with the values."""
        if self.strides:
            return self._strided_tensor()
        match self.form:
            case "fresh":
                return Tensor.empty(self.shape, self.dtype)
            case "partial":
                return self._partial()
            case "offset":
                values = self.values()
                room = np.concatenate([np.zeros(2, values.dtype), values.reshape(-1)])
                whole = Tensor.from_numpy(room, self.dtype)
                return Tensor(whole.storage, self.dtype, self.shape, None, 2 * whole.itemsize)
        values = self.values()
        if self.form == "strided":
            gap = np.zeros((*values.shape[:-1], values.shape[-1] + 3), values.dtype)
            gap[..., : values.shape[-1]] = values
            values = gap[..., : values.shape[-1]]
        if self.form == "locked":
            values.setflags(write=False)
        return Tensor.from_numpy(values, self.dtype)

    def _strided_tensor(self) -> Tensor:
        reach = 1 + sum((n - 1) * step for n, step in zip(self.shape, self.strides, strict=True))
        whole = Tensor.empty((0 if 0 in self.shape else reach,), self.dtype)
        tensor = Tensor(whole.storage, self.dtype, self.shape, self.strides)
        if self.form != "fresh":
            tensor.array[...] = self.values()
            whole.storage.initialise(0, whole.storage.nbytes)
        return tensor

    def _partial(self) -> Tensor:
        tensor = Tensor.empty(self.shape, self.dtype)
        tensor.array[...] = self.values()
        for number in range(0, tensor.size, 2):
            tensor.storage.initialise(number * tensor.itemsize, tensor.itemsize)
        return tensor


@dataclass(frozen=True)
class Number:
    """A number of a dtype."""

    dtype: DType
    value: int | float

    def __str__(self) -> str:
        return f"{self.dtype} {self.value!r}"


@dataclass(frozen=True)
class Same:
    """The tensor of argument `number` again."""

    number: int

    def __str__(self) -> str:
        return f"argument {self.number} again"


@dataclass(frozen=True)
class ShapeOf:
    """A shape value of Relax."""

    values: tuple[int, ...]

    def __str__(self) -> str:
        return repr(Shape(self.values))


@dataclass(frozen=True)
class TupleOf:
    """A tuple of arguments."""

    items: tuple["Argument", ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.items))})"


Argument: TypeAlias = Array | Number | Same | ShapeOf | TupleOf


def arguments(recipes: Sequence[Argument]) -> list[object]:
    """Fresh arguments for one call."""
    tensors: list[object] = []
    for recipe in recipes:
        tensors.append(_make(recipe, tensors))
    return tensors


def _make(recipe: Argument, earlier: Sequence[object]) -> object:
    """The argument of a recipe; `earlier`: the arguments before it."""
    match recipe:
        case Array():
            return recipe.tensor()
        case Number(_, value):
            return value
        case Same(number):
            return earlier[number]
        case ShapeOf(values):
            return Shape(values)
        case TupleOf(items):
            return tuple(_make(item, earlier) for item in items)


# ------------------------------------------------------------------------------------------------- as data


def argument_data(recipe: Argument) -> Data:
    """The recipe as JSON values, without fields that have their defaults."""
    match recipe:
        case Array():
            required: dict[str, Data] = {"array": str(recipe.dtype), "shape": list(recipe.shape), "way": recipe.way}
            default = Array(recipe.dtype, recipe.shape)
            names = ("seed", "low", "high", "form")
            strides: dict[str, Data] = {"strides": list(recipe.strides)} if recipe.strides else {}
            changed = {name: getattr(recipe, name) for name in names if getattr(recipe, name) != getattr(default, name)}
            pool: dict[str, Data] = {"pool": [_number_data(value) for value in recipe.pool]} if recipe.pool else {}
            pairs: list[Data] = [[at, _number_data(value)] for at, value in recipe.puts]
            puts: dict[str, Data] = {"puts": pairs} if pairs else {}
            return {**required, **changed, **strides, **pool, **puts}
        case Number(kind, value):
            return {"number": str(kind), "value": _number_data(value)}
        case Same(number):
            return {"same": number}
        case ShapeOf(values):
            return {"shape": list(values)}
        case TupleOf(items):
            return {"tuple": [argument_data(item) for item in items]}


def argument_of(data: Data) -> Argument:
    """The recipe of the data. Fails: RM109 for anything else."""
    try:
        return _argument(data)
    except (ValueError, KeyError):
        raise fail(BAD_FILE, f"not a recipe of an argument: {data!r}") from None


def _argument(data: Data) -> Argument:
    """The recipe of the data. Fails: ValueError."""
    match data:
        case {"array": str(kind), "shape": list(shape), "way": str(way), **rest} if way in (
            *WAYS,
            FEW,
            UNIT,
            ASCENDING,
            CYCLE,
        ):
            low, high, seed = (_whole(rest.get(name, 0)) for name in ("low", "high", "seed"))
            form, strides = rest.get("form", "compact"), rest.get("strides", [])
            if form in FORMS and isinstance(strides, list) and len(strides) in (0, len(shape)):
                steps, sizes = tuple(map(_whole, strides)), tuple(map(_whole, shape))
                pool = tuple(map(_number, _items(rest.get("pool"))))
                puts = tuple((_whole(at), _number(value)) for at, value in map(_items, _items(rest.get("puts"))))
                if (way == CYCLE) == bool(pool):
                    return Array(dtype(kind), sizes, way, seed, low, high, str(form), steps, pool, puts)
        case {"number": str(kind), "value": int() | str() as value}:
            return Number(dtype(kind), _number(value))
        case {"same": int(number)}:
            return Same(number)
        case {"shape": list(values)}:
            return ShapeOf(tuple(map(_whole, values)))
        case {"tuple": list(items)}:
            return TupleOf(tuple(map(argument_of, items)))
    raise ValueError


def _number_data(value: float) -> int | str:
    """An integer as it is, a float as text, every bit of it (a NaN is one class)."""
    if isinstance(value, int):
        return value
    return value.hex() if math.isfinite(value) else str(value)


NAMED = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}  # one NaN, so that equal recipes compare equal


def _number(data: Data) -> int | float:
    """The number of `_number_data`. Fails: ValueError."""
    if isinstance(data, str):
        return NAMED[data] if data in NAMED else float.fromhex(data)
    return _whole(data)


def _items(data: object) -> list[Data]:
    """A list; None: an empty one. Fails: ValueError."""
    if data is None:
        return []
    if not isinstance(data, list):
        raise ValueError  # noqa: TRY004 - the caller's one kind of failure
    return data


def _whole(data: object) -> int:
    """An integer. Fails: ValueError."""
    if not isinstance(data, int):
        raise ValueError  # noqa: TRY004 - the caller's one kind of failure
    return data
