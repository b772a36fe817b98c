"""The C++ around an emitted unit: what `rm_terms.hpp` has to know, and each helper that the unit calls.

The unit itself is included as it is. Its own headers are left out, but for `rm_guard.h`: their guards are defined.

| helper of a unit                | becomes                                                      |
|---------------------------------|--------------------------------------------------------------|
| `rm_<op>_<D>`                   | the operator as a symbol; numbers are computed               |
| `rm_<op>_<D>_undefined` of data | an obligation, which every form leaves to the interpreter    |
| `rm_cast_<from>_<to>`           | the operand where each value stays, else a symbol            |

A helper that has no form here is not declared: a unit that calls it does not compile.
"""

import re
from collections.abc import Callable, Iterator

from refmlc.lang.dtypes import SCALARS, DType
from refmlc.lang.ops.contract import Contract
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.native.compile.compiler import HEADERS
from refmlc.prove.emitted.fingerprints import NUMBERS, OPERATORS, ROUNDED, SMALL, goes_through_float32
from refmlc.prove.terms import commutes
from refmlc.prove.values import keeps

Commutes = Callable[[Contract, DType], bool]
INFIXES = ("add", "sub", "mul")
RELATIONS = ("eq", "ne", "lt", "le", "gt", "ge")
DIVISIONS = ("div", "truncdiv", "truncmod", "floordiv", "floormod")
EXTREMES = ("max", "min")
WHOLE = "emitted.c"
_WORD = re.compile(r"\brm_([a-z0-9_]+)\b")


def wrapper(text: str, swapped: Commutes = commutes) -> str:
    """The C++ that includes the unit `text` from the file `WHOLE`. `swapped` says whose operands may be swapped."""
    guards = (f"#define {path.stem.upper()}_H" for path in sorted(HEADERS.glob("*.h")) if path.stem != "rm_guard")
    lines = [
        "#include <cstdint>",
        *_numbers(swapped),
        '#include "rm_terms.hpp"',
        *_helpers(text),
        *guards,
        "#define restrict __restrict",
        "#define _Alignas alignas",
        "#define aligned_alloc(alignment, bytes) rm_poisoned(bytes)",
        "#define char rm_panel_byte",
        "#define unsigned",
        "#define goto return status |",
        'extern "C" {',
        f'#include "{WHOLE}"',
        "}",
        "",
    ]
    return "\n".join(lines)


def _identifier(element: str) -> str:
    return f"RM_ID_{'bool_' if element == 'bool' else element}"


def _numbers(swapped: Commutes) -> Iterator[str]:
    """The numbers of dtypes and operators, and the two relations that are data."""
    dtypes = {name: SCALARS[name] for name in NUMBERS}
    yield f"enum {{ {', '.join(f'{_identifier(name)} = {number}' for name, number in NUMBERS.items())} }};"
    yield f"enum {{ {', '.join(f'RM_OP_{name} = {number}' for name, number in OPERATORS.items())} }};"
    pairs = [(a, b) for a in NUMBERS for b in NUMBERS if keeps(dtypes[a], dtypes[b])]
    yield _relation("rm_kept", [(NUMBERS[a], NUMBERS[b]) for a, b in pairs])
    rows = [(op, name) for op, row in SCALAR_OPS.items() for name in NUMBERS if swapped(row.contract, dtypes[name])]
    yield _relation("rm_commutes", [(OPERATORS[op], NUMBERS[name]) for op, name in rows])


def _relation(name: str, pairs: list[tuple[int, int]]) -> str:
    cases = " || ".join(f"(a == {a} && b == {b})" for a, b in pairs) or "false"
    return f"constexpr bool {name}(int a, int b) {{ return {cases}; }}"


def _helpers(text: str) -> Iterator[str]:
    for word in sorted(set(_WORD.findall(text))):
        name, is_undefined = word.removesuffix("_undefined"), word.endswith("_undefined")
        for element in NUMBERS:
            op = name.removesuffix(f"_{element}")
            if op != name and op.startswith("cast_") and op[5:] in NUMBERS:
                yield _obligation(word) if is_undefined else _cast(op[5:], element)
            elif op != name and op in SCALAR_OPS and SCALAR_OPS[op].contract.accepts_dtype(SCALARS[element]):
                yield _obligation(word) if is_undefined else _operator(SCALAR_OPS[op].contract, SCALARS[element])
    for source, target in sorted(set(re.findall(r"^RM_DEFINE_CAST\((\w+), (\w+)\)$", text, re.MULTILINE))):
        if source in NUMBERS and target in NUMBERS and f"rm_cast_{source}_{target}" not in text:
            yield _cast(source, target)


def _obligation(word: str) -> str:
    return (
        f"template <class... A> requires(!(std::is_arithmetic_v<A> && ...)) "
        f"static inline rm_obligation rm_{word}(A...) {{ return {{}}; }}"
    )


def _cast(source: str, target: str) -> str:
    """The conversion of a number: `rm_cast_<source>_<target>`."""
    holder = "float32" if source in SMALL else source
    if target not in SMALL:
        body = f"rm_converted<{_identifier(holder)}, {_identifier(target)}>(x)"
    elif source == target:
        body = "x"
    elif holder == "float32":
        body = f"rm_rounded<{_identifier(target)}>(x)"
    elif goes_through_float32(SCALARS[source], SCALARS[target]):
        body = f"rm_rounded<{_identifier(target)}>(rm_converted<{_identifier(source)}, RM_ID_float32>(x))"
    else:
        body = f"rm_made_small<{_identifier(source)}, {_identifier(target)}>(x)"
    return f"static inline rm_{target} rm_cast_{source}_{target}(rm_{source} x) {{ return {body}; }}"


def _operator(row: Contract, dtype: DType) -> str:
    """The helper of an operator: `rm_<op>_<D>`."""
    element = dtype.element
    result = dtype if row.result == "same" else SCALARS.get(row.result)
    if result is None or result.element not in NUMBERS:
        return ""
    names = "abcdefgh"[: row.arity]
    others = element if row.rest is None else "int64"
    params = ", ".join(f"rm_{element if name == 'a' else others} {name}" for name in names)
    operands = ", ".join(names)
    match row.name:
        case "likely":
            body = "a"
        case op if op in INFIXES or (op == "div" and dtype.is_float):
            body = f"rm_arith<RM_OP_{op}>({operands})"
        case op if op in RELATIONS:
            body = f"rm_compared<RM_OP_{op}>({operands})"
        case op if op in EXTREMES:
            body = f"rm_extreme<RM_OP_{op}>({operands})"
        case op if op in DIVISIONS and dtype.is_integer:
            body = f"rm_divided<RM_OP_{op}>({operands})"
        case "sqrt" if element not in SMALL:
            body = "rm_root(a)"
        case "abs":
            body = "rm_absolute(a)"
        case "not":
            body = "rm_negated(a)"
        case op:
            target = _identifier(result.element)
            held_as = "RM_ID_float32" if result.element in SMALL else target
            body = f"rm_row_as<RM_OP_{op}, {_identifier(element)}, {target}, {held_as}>({operands})"
    if element in SMALL and row.name in ROUNDED:
        body = f"rm_rounded<{_identifier(element)}>({body})"
    return f"static inline rm_{result.element} rm_{row.name}_{element}({params}) {{ return {body}; }}"
