"""Constants of a text beyond literals and operators: comprehensions, f-strings, Python's builtin functions on them.

| expression                                              | meaning                                         |
|---------------------------------------------------------|-------------------------------------------------|
| `[e for x in items if c]`, `(…)`, `{k: v for …}`        | as Python; a generator is the tuple of its items |
| `f"{value!r:spec}"`                                     | as Python, of constants                         |
| `len min max sum abs round divmod`                      | as Python                                       |
| `int float bool str list tuple`                         | as Python                                       |
| `sorted reversed enumerate zip any all`                 | as Python, with all items at once               |
| `math.ceil floor sqrt log2 prod gcd`, `math.pi inf nan` | as Python                                       |

Items are those of a list, a tuple, a string, a dictionary or a `range`.
Fails: RM103 other operands; RM107 what Python refuses; RM606 more items than the budget has.
"""

import ast
import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_LITERAL, NOT_TVMSCRIPT
from refmlc.lang.script.reader.arguments import CallSite
from refmlc.lang.script.reader.budget import ITEM, ITEMS, exhausted, size_of
from refmlc.lang.script.reader.operators import BITS, is_constant
from refmlc.lang.script.reader.table import CallHandler, Table
from refmlc.lang.script.reader.tir_values import LoopSpec
from refmlc.lang.script.reader.values import Meta, described

if TYPE_CHECKING:
    from refmlc.lang.script.reader.evaluate import Evaluator

_SPEC = re.compile(r"(?:.?[<>=^])?[-+ ]?#?0?[0-9]{0,3}[,_]?(?:\.[0-9]{1,2})?[bcdeEfFgGosxX%]?")
_CONVERSIONS: dict[int, Callable[[object], str]] = {ord("r"): repr, ord("s"): str, ord("a"): ascii}


def items_of(value: Meta, span: Span) -> Sequence[Meta]:
    """The items that iterating over `value` gives. Fails: RM103, RM606."""
    match value:
        case LoopSpec(host=range() as numbers):
            if _length(numbers) > ITEMS:
                raise exhausted(f"the range has more than {ITEMS} items", span)
            return numbers
        case list() | tuple() | str():
            return value
        case dict():
            return tuple(value)
        case _:
            raise fail(NOT_TVMSCRIPT, f"{described(value)} has no items to iterate over", span)


def _length(numbers: range) -> int:
    """The number of items; `len` refuses a long range."""
    distance = numbers.stop - numbers.start if numbers.step > 0 else numbers.start - numbers.stop
    return max(0, -(-distance // abs(numbers.step)))


# ---------------------------------------------------------------------------------------------- comprehensions


def comprehension(ev: "Evaluator", node: ast.ListComp | ast.GeneratorExp) -> list[Meta]:
    """The values of the element for all items."""
    values: list[Meta] = []
    _for_each(ev, node.generators, lambda: values.append(_charged(ev, node.elt)))
    return values


def dictionary(ev: "Evaluator", node: ast.DictComp) -> dict[Meta, Meta]:
    """The values by key for all items."""
    result: dict[Meta, Meta] = {}

    def add() -> None:
        key = _charged(ev, node.key)
        if not isinstance(key, (str, int, float)):
            raise fail(NOT_TVMSCRIPT, f"a dictionary's key is {described(key)}", ev.spans.of(node.key))
        result[key] = _charged(ev, node.value)

    _for_each(ev, node.generators, add)
    return result


def _charged(ev: "Evaluator", node: ast.expr) -> Meta:
    value = ev.eval(node)
    ev.budget.charge(ITEM + size_of(value), ev.spans.of(node))
    return value


def _for_each(ev: "Evaluator", generators: Sequence[ast.comprehension], visit: Callable[[], None]) -> None:
    """Call `visit` for each combination of items, which are defined in frames of the scope."""
    first, *rest = generators
    if first.is_async:
        raise ev.refuse("an asynchronous comprehension is not TVMScript", ev.spans.of(first.target))
    span = ev.spans.of(first.iter)
    items = items_of(ev.eval(first.iter), span)
    with ev.scope.frame():
        for item in items:
            ev.budget.charge(ITEM, span)
            define(ev, first.target, item)
            if not all(_holds(ev, condition) for condition in first.ifs):
                continue
            if rest:
                _for_each(ev, rest, visit)
            else:
                visit()


def _holds(ev: "Evaluator", node: ast.expr) -> bool:
    value = ev.eval(node)
    if not is_constant(value):
        raise ev.refuse(f"{described(value)} is not a condition of a comprehension", ev.spans.of(node))
    return bool(value)


def define(ev: "Evaluator", target: ast.expr, value: Meta) -> None:
    """Define the names of `target` by `value`, as an assignment of Python does. Fails: RM103."""
    span = ev.spans.of(target)
    match target:
        case ast.Name(id=name):
            ev.scope.define(name, value)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            items = items_of(value, span)
            if any(isinstance(part, ast.Starred) for part in parts):
                raise ev.refuse("`*` in a target is not in the language of constants", span)
            if len(items) != len(parts):
                raise ev.refuse(f"{len(items)} values are unpacked into {len(parts)} names", span)
            for part, item in zip(parts, items, strict=True):
                define(ev, part, item)
        case _:
            raise ev.refuse("only names are bound to constants", span)


# --------------------------------------------------------------------------------------------------- f-strings


def formatted(ev: "Evaluator", node: ast.JoinedStr) -> str:
    """The text of an f-string."""
    parts: list[str] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
        elif isinstance(part, ast.FormattedValue):
            parts.append(_field(ev, part))
    ev.budget.charge_value("".join(parts), ev.spans.of(node))
    return "".join(parts)


def _field(ev: "Evaluator", node: ast.FormattedValue) -> str:
    span = ev.spans.of(node.value)
    value = _printable(ev.eval(node.value), span)
    if node.conversion in _CONVERSIONS:
        value = _CONVERSIONS[node.conversion](value)
    spec = "" if not isinstance(node.format_spec, ast.JoinedStr) else formatted(ev, node.format_spec)
    if not _SPEC.fullmatch(spec):
        raise fail(BAD_LITERAL, f"the format {spec[:20]!r} is not in the language of constants", span)
    try:
        return format(value, spec)
    except (ValueError, TypeError, OverflowError) as problem:
        raise fail(BAD_LITERAL, f"{described(value)} in the format {spec[:20]!r}: {problem}", span) from None


def _printable(value: Meta, span: Span) -> Meta:
    """`value`, when its text is the same wherever it is made. Fails: RM103, RM606."""
    if not is_constant(value):
        raise fail(NOT_TVMSCRIPT, f"the text of {described(value)} is not a constant", span)
    if size_of(value) > ITEMS:
        raise exhausted("the text has too many parts", span)
    return value


# --------------------------------------------------------------------------------------------------- functions


def _function(least: int, most: int, meaning: Callable[..., Meta], *keywords: str) -> CallHandler:
    """A builtin function of constants that takes `least` to `most` arguments, and `keywords`."""

    def handler(ev: "Evaluator", site: CallSite) -> Meta:
        unknown = [key for key in site.kwargs if key not in keywords]
        if unknown:
            raise site.misfit(f"takes no `{unknown[0]}` in the language of constants", site.place(unknown[0]))
        if not least <= len(site.args) <= most:
            raise site.misfit(f"takes {least} to {most} arguments and gets {len(site.args)}")
        args = [_argument(ev, value, site, at) for at, value in enumerate(site.args)]
        options = {key: _argument(ev, value, site, key) for key, value in site.kwargs.items()}
        try:
            result = meaning(*args, **options)
        except (TypeError, ValueError, ZeroDivisionError, OverflowError) as problem:
            raise fail(BAD_LITERAL, f"`{site.spelled}`: {problem}", site.span) from None
        if isinstance(result, int) and result.bit_length() > BITS:
            raise exhausted(f"the result of `{site.spelled}` has more than {BITS} bits", site.span)
        ev.budget.charge_value(result, site.span)
        return result

    return handler


def _argument(ev: "Evaluator", value: Meta, site: CallSite, which: int | str) -> Meta:
    """A constant, or a `range` as Python has it; its size is charged."""
    span = site.place(which)
    if isinstance(value, LoopSpec) and value.host is not None:
        return value.host if site.name == "builtin.len" else _items(ev, value, span)
    if site.name == "builtin.len" and isinstance(value, (tuple, list)):
        return value  # `len(A.shape)`: whatever the items are
    if not is_constant(value):
        raise fail(NOT_TVMSCRIPT, f"`{site.spelled}` takes constants and gets {described(value)}", span)
    ev.budget.charge_value(value, span)
    return value


def _items(ev: "Evaluator", value: Meta, span: Span) -> tuple[Meta, ...]:
    items = items_of(value, span)
    ev.budget.charge(len(items), span)
    return tuple(items)


def _len(value: Meta) -> int:
    return _length(value) if isinstance(value, range) else len(cast("str", value))


def _int(value: Meta, base: Meta = 10) -> int:
    if isinstance(value, str) and isinstance(base, int) and len(value) <= ITEM * ITEM:
        return int(value, base)
    if base != 10 or not isinstance(value, (int, float)):
        raise TypeError(f"{described(value)} is not a number")
    return int(value)


def _sum(items: Meta, start: Meta = 0) -> Meta:
    if not all(isinstance(item, (int, float)) for item in (*_iterable(items), start)):
        raise TypeError("a sum is of numbers")
    return sum(cast("list[int]", items), cast("int", start))


def _prod(items: Meta) -> Meta:
    result: int | float = 1
    for item in _iterable(items):
        result *= _number(item)
        if isinstance(result, int) and result.bit_length() > BITS:
            break
    return result


def _number(value: Meta) -> int | float:
    if not isinstance(value, (int, float)):
        raise TypeError(f"{described(value)} is not a number")
    return value


def _iterable(items: Meta) -> Sequence[Meta]:
    if not isinstance(items, (list, tuple, str, dict)):
        raise TypeError(f"{described(items)} has no items")
    return tuple(items)


def _enumerate(items: Meta, start: int = 0) -> tuple[Meta, ...]:
    return tuple(enumerate(_iterable(items), start))


def _sorted(items: Meta, *, reverse: bool = False) -> list[Meta]:
    return sorted(cast("list[int]", _iterable(items)), reverse=reverse)  # type: ignore[return-value]


def _zip(*sequences: Meta) -> tuple[Meta, ...]:
    return tuple(zip(*map(_iterable, sequences), strict=False))


def _extreme(choose: Callable[..., Meta]) -> Callable[..., Meta]:
    def meaning(*values: Meta) -> Meta:
        return choose(*values) if len(values) > 1 else choose(_iterable(values[0]))

    return meaning


def _float(value: Meta = 0.0) -> float:
    if isinstance(value, str) and len(value) > ITEM * ITEM:
        raise ValueError("the text is too long for a number")
    return float(cast("float", value))


def _round(value: Meta, digits: Meta = None) -> Meta:
    if isinstance(digits, int) and abs(digits) > BITS:
        raise ValueError("the number of digits is too large")
    return round(_number(value), cast("int", digits)) if digits is not None else round(_number(value))


CONSTANTS = Table(
    calls={
        "builtin.len": _function(1, 1, _len),
        "builtin.min": _function(1, ITEMS, _extreme(min)),
        "builtin.max": _function(1, ITEMS, _extreme(max)),
        "builtin.sum": _function(1, 2, _sum, "start"),
        "builtin.abs": _function(1, 1, lambda value: abs(_number(value))),
        "builtin.round": _function(1, 2, _round),
        "builtin.divmod": _function(2, 2, lambda a, b: divmod(_number(a), _number(b))),
        "builtin.int": _function(0, 2, lambda value=0, base=10: _int(value, base), "base"),
        "builtin.float": _function(0, 1, _float),
        "builtin.bool": _function(0, 1, lambda value=False: bool(value)),
        "builtin.str": _function(0, 1, lambda value="": str(value)),
        "builtin.list": _function(0, 1, lambda items=(): list(_iterable(items))),
        "builtin.tuple": _function(0, 1, lambda items=(): _iterable(items)),
        "builtin.sorted": _function(1, 1, _sorted, "reverse"),
        "builtin.reversed": _function(1, 1, lambda items: _iterable(items)[::-1]),
        "builtin.enumerate": _function(1, 2, _enumerate, "start"),
        "builtin.zip": _function(0, ITEMS, _zip),
        "builtin.any": _function(1, 1, lambda items: any(_iterable(items))),
        "builtin.all": _function(1, 1, lambda items: all(_iterable(items))),
        "math.ceil": _function(1, 1, lambda value: math.ceil(_number(value))),
        "math.floor": _function(1, 1, lambda value: math.floor(_number(value))),
        "math.sqrt": _function(1, 1, lambda value: math.sqrt(_number(value))),
        "math.log2": _function(1, 1, lambda value: math.log2(_number(value))),
        "math.prod": _function(1, 1, _prod),
        "math.gcd": _function(0, ITEMS, math.gcd),
    },
    names={"math.pi": math.pi, "math.inf": math.inf, "math.nan": math.nan},
)
BUILTINS = frozenset(("range", "slice", *(name[8:] for name in CONSTANTS.calls if name.startswith("builtin."))))
"""The builtin functions of Python that a text may call."""
