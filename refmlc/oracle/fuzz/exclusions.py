"""What a campaign leaves out of generation: `--exclude NAME`, and what the implementations in it do not take at all.

| name                       | leaves out programs with                                                               |
|----------------------------|----------------------------------------------------------------------------------------|
| `narrow-floats`            | floats of less than 16 bits                                                            |
| `packed`                   | elements that share a byte: integers of less than 8 bits, floats of less than 8        |
| `views`                    | buffers with strides or an offset: such arguments cannot be sent to another process    |
| `threads`                  | loops bound to threads                                                                 |
| an operator, such as `exp` | that operator: of scalars, an intrinsic, of Relax                                      |
| a dtype, such as `float16` | values of that dtype                                                                   |

A known cause that is met in every minute crowds out the others: once it has a row, its trigger is excluded.

Real TVM takes none of `packed`, `views`, `threads` (it has no device here) and `ret`, so a campaign in which it
takes part leaves those out. A program that is left out is drawn again with another seed, which depends on nothing but
the settings and its number.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache

from refmlc.lang.dtypes import SCALARS
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.threads import tag_of
from refmlc.lang.ir.visit import walk
from refmlc.lang.library import OPERATORS
from refmlc.oracle.fuzz.coverage import clauses_of_operators, covered

HALF = 16
BYTE = 8
NOT_SENT_TO_TVM = ("packed", "ret", "threads", "views")
TVM = "tvm:"
STEPS = frozenset(("split",))  # a subject has a step of this name: it is no operator here
PREFERRED = ("operators", "dtypes", "kinds")  # families that a program may be drawn for


def _bits(dtype: str) -> int:
    return SCALARS[dtype].bits if dtype in SCALARS else HALF


def _has_narrow_floats(_module: IRModule, names: Collection[str]) -> bool:
    return any(name.startswith("float") and _bits(name) < HALF for name in names)


def _has_packed(_module: IRModule, names: Collection[str]) -> bool:
    return any(name != "bool" and 0 < _bits(name) < BYTE for name in names if name in SCALARS)


def _has_views(module: IRModule, _names: Collection[str]) -> bool:
    return any(
        isinstance(buffer, tir.Buffer) and (buffer.strides or buffer.elem_offset is not None)
        for function in module.functions.values()
        if isinstance(function, tir.PrimFunc)
        for buffer in function.buffer_map.values()
    )


def _has_threads(module: IRModule, _names: Collection[str]) -> bool:
    return any(
        tag_of(node)
        for function in module.functions.values()
        if isinstance(function, tir.PrimFunc)
        for node in walk(function.body)
    )


TRAITS: Mapping[str, Callable[[IRModule, Collection[str]], bool]] = {
    "narrow-floats": _has_narrow_floats,
    "packed": _has_packed,
    "views": _has_views,
    "threads": _has_threads,
}


def has_any(module: IRModule, names: frozenset[str]) -> bool:
    """Whether a program has one of these operators, dtypes, or kinds of nodes."""
    parts = covered([module], ())
    return any(not names.isdisjoint(parts[family]) for family in PREFERRED)


def names_in(module: IRModule) -> frozenset[str]:
    """The names that leave a program out: what `--exclude` takes and the program has."""
    parts = covered([module], ())
    names = {*parts["operators"], *parts["dtypes"]}
    traits = {trait for trait, has in TRAITS.items() if has(module, names)}
    return frozenset(names & known_names()) | traits


@cache
def known_names() -> frozenset[str]:
    """The names that `--exclude` takes in every campaign; subjects have names of their own."""
    return frozenset({*TRAITS, *clauses_of_operators(), *OPERATORS, *map(str, SCALARS)}) - STEPS


def exclusions(exclude: Iterable[str], implementations: Iterable[str]) -> frozenset[str]:
    """The exclusions of a campaign: what it asks for, and what its implementations do not take."""
    unsent = NOT_SENT_TO_TVM if any(spec.startswith(TVM) for spec in implementations) else ()
    return frozenset({*exclude, *unsent})


def is_excluded(module: IRModule, exclude: Collection[str]) -> bool:
    """Whether a program has anything that is excluded; a step of a subject is no operator, as `split` of Relax is."""
    exclude = known_names().intersection(exclude)
    if not exclude:
        return False
    parts = covered([module], ())
    names = {*parts["operators"], *parts["dtypes"]}
    return not names.isdisjoint(exclude) or any(has(module, names) for trait, has in TRAITS.items() if trait in exclude)
