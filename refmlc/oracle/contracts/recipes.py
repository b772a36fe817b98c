"""Recipes of arguments moved into contracts, and sizes that contracts of sizes leave.

| parameter                                | its recipe                                                              |
|------------------------------------------|-------------------------------------------------------------------------|
| integers that a contract speaks of       | drawn anew from a wide range, then moved into the contract; where that  |
|                                          | is a range, they are anywhere in it                                     |
| floats that a contract speaks of         | as they are, moved where they violate it                                |
| others, outputs, sizes                   | as they are                                                             |

`ends` puts integers at the ends of their ranges: `both` the first and last element, `low` or `high` all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

import numpy as np

from refmlc.lang.dtypes import DType
from refmlc.oracle.contracts.contract import ASSERTED, WRITTEN, Contracts
from refmlc.oracle.contracts.language import references
from refmlc.oracle.contracts.project import violated
from refmlc.oracle.contracts.values import Elements, exact
from refmlc.strategies.arguments import Argument, Array, Number
from refmlc.strategies.contents import CYCLE

WIDE = 1 << 15
FURTHEST = 64  # sizes that are tried for a contract of sizes


def admissible(
    contracts: Contracts, names: Sequence[str], recipes: Sequence[Argument], sizes: Mapping[str, int], ends: str = ""
) -> tuple[Argument, ...] | None:
    """The recipes of the parameters, moved into the contracts; None where no value satisfies them at these sizes."""
    spoken = contracts.names
    movable = {
        name: recipe
        for name, recipe in zip(names, recipes, strict=True)
        if name in spoken and name not in sizes and _is_filled(recipe)
    }
    if not movable and not contracts.clauses:
        return tuple(recipes)
    values: dict[str, object] = dict(sizes)
    for name, recipe in movable.items():
        values[name] = _drawn(recipe)
    moved = contracts.project(values, movable, ends=ends)
    if moved is None:
        return None
    return tuple(
        _with(recipe, moved[name]) if name in moved else recipe for name, recipe in zip(names, recipes, strict=True)
    )


def admissible_sizes(contracts: Contracts, sizes: Mapping[str, int], fixed: Mapping[str, int]) -> dict[str, int]:
    """The sizes, some larger where what is asserted or written asks for it; as they are where nothing helps."""
    rows = contracts.of(ASSERTED, WRITTEN).clauses
    clauses = [clause for clause in rows if all(value.name in sizes for value in references(clause))]
    result = dict(sizes)
    for _ in clauses:
        clause = violated(clauses, _arrays(result))
        if clause is None:
            break
        free = [name for name in dict.fromkeys(value.name for value in references(clause)) if name not in fixed]
        candidates = ({**result, name: result[name] + step} for step in range(1, FURTHEST) for name in free)
        result = next((each for each in candidates if violated([clause], _arrays(each)) is None), result)
    return result


def _arrays(sizes: Mapping[str, int]) -> dict[str, Elements]:
    return {name: np.asarray(size) for name, size in sizes.items()}


def _is_filled(recipe: Argument) -> bool:
    return isinstance(recipe, Number) or (isinstance(recipe, Array) and recipe.form == "compact")


def _drawn(recipe: Argument) -> Elements:
    """The values before they are moved."""
    match recipe:
        case Number(value=value):
            return np.asarray(value)
        case Array() if recipe.dtype.is_integer and recipe.way != CYCLE:
            random = Random(recipe.seed + 1)  # noqa: S311 - reproducible, not secret
            low, high = max(recipe.dtype.minimum, -WIDE), min(recipe.dtype.maximum, WIDE)
            drawn = [random.randint(low, high) for _ in range(int(np.prod(recipe.shape)))]
            return np.array(drawn, np.int64).reshape(recipe.shape)
        case Array():
            return exact(recipe.values())
        case _:
            return np.asarray(0)


def _with(recipe: Argument, values: Elements) -> Argument:
    """The recipe of these values."""
    match recipe:
        case Number(dtype):
            return Number(dtype, _plain(values.item(), dtype))
        case Array() if values.size:
            pool = tuple(_plain(value, recipe.dtype) for value in values.reshape(-1).tolist())
            return replace(recipe, way=CYCLE, seed=0, low=0, high=0, pool=pool, puts=())
        case _:
            return recipe


def _plain(value: object, dtype: DType) -> int | float:
    """A number of the dtype."""
    number = value if isinstance(value, int | float) else 0
    return float(number) if dtype.is_float else min(max(int(number), dtype.minimum), dtype.maximum)
