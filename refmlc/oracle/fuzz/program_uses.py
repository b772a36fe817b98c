"""What a program applies to what: operators with the dtypes of their operands, and what few programs have.

The rows that look like a finding are compared by it (`likeness`). A `Let`, a `match_buffer`, a `Shuffle` and a literal
that few programs have count as operators; so do a quotient of a difference in an index, which TVM rewrites in a way of
its own, and an operator that asks for the bounds of a cast that wraps.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from refmlc.lang.dtypes import BOOL, SCALARS, DType
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import walk
from refmlc.oracle.fuzz.finding_pattern import (
    ANY,
    CAST,
    NARROW,
    OF_CAST,
    PLAIN,
    Uses,
    bounds_of_casts,
    dtypes_of_tensors,
    group_of,
)

BINDING = "binding of a float that is stored as an integer"
IN_INDEX = " of a difference in an index"
FLOAT8 = "float8"  # what is wrong with one of them is wrong with all
LARGEST = 2**63 - 1
COMPARED = 24  # expressions of a program
ARITHMETIC = "arithmetic"
NARROW_INTEGERS = ("int8", "uint8", "int16", "uint16")
COMPARISONS = frozenset(("lt", "le", "gt", "ge", "eq", "ne"))
BRANCHES = (relax.If, tir.While, tir.And, tir.Or)


def uses_in(module: IRModule) -> Uses:
    """The operators of a program with the dtypes of their operands; those of Relax with each dtype of the program.

    Of casts those from or to floats of 8 bits and less.
    """
    nodes = [node for function in module.functions.values() for node in walk(function)]
    dtypes = dtypes_of_tensors(module)
    uses, casts = set[tuple[str, str]](), set[tuple[str, str]]()
    for node in nodes:
        if isinstance(node, relax.Op):
            uses |= {(spelled(node.name), dtype) for dtype in dtypes}
        elif isinstance(node, tir.Apply | tir.Call):
            name = node.op if isinstance(node, tir.Apply) else str(node.callee)
            of = {getattr(operand, "dtype", None) for operand in node.args}
            uses |= {(spelled(name), dtype.element) for dtype in of if isinstance(dtype, DType)}
            uses.update(bounds_of_casts(name, map(_casts, node.args)))
        elif isinstance(node, tir.BufferLoad | tir.BufferStore):
            uses |= {(name, ANY) for index in node.indices for name in _turned(index)}
        elif isinstance(node, tir.Cast):
            casts.add((CAST, f"{node.value.dtype.element} {node.dtype.element}"))
        elif name := _seldom(node):
            uses.add((name, ANY))
    if _binds_repeated(nodes):
        uses.add((BINDING, ANY))
    uses |= {(name, FLOAT8) for name, dtype in uses if dtype.startswith(FLOAT8)}
    narrow = filter(is_narrow, casts)
    return frozenset({*narrow, *((name, dtype) for name, dtype in uses if name not in PLAIN)})


def applied_in(module: IRModule) -> Uses:
    """The operators of a program without the bounds of casts, which no message is about."""
    return frozenset(use for use in uses_in(module) if not use[0].endswith(OF_CAST))


def plainly(uses: Iterable[tuple[str, str]]) -> Uses:
    """Uses by groups of dtypes: what a pass does to a cast of float32 it does to one of float64.

    Arithmetic on floats of 8 bits and less is one operator, and so is that on integers of 16 bits and less: all of it
    is computed in another dtype.
    """
    return frozenset(_plain_use(name, dtypes) for name, dtypes in uses)


def _plain_use(name: str, dtypes: str) -> tuple[str, str]:
    if name != CAST and name not in COMPARISONS:
        if is_narrow((name, dtypes)):
            return ARITHMETIC, "floats of 8 bits and less"
        if dtypes in NARROW_INTEGERS:
            return ARITHMETIC, "integers of 16 bits and less"
    return spelled(name), " ".join(map(_group_named, dtypes.split()))


def _group_named(name: str) -> str:
    """The group of a dtype of this name: plain floats are one, and so are the integers; others are their own."""
    scalar = SCALARS.get(name)
    if scalar is None or (scalar.kind == "float" and not name.startswith("float")) or scalar.bits <= NARROW:
        return name
    return "float" if scalar.kind == "float" else "int"


def scalars_in(module: IRModule) -> Uses:
    """The scalar operators and casts that the functions of TensorIR store the results of, all of them."""
    uses = set[tuple[str, str]]()
    stores = (node for function in module.functions.values() for node in walk(function))
    for node in (part for store in stores if isinstance(store, tir.BufferStore) for part in walk(store.value)):
        match node:
            case tir.Cast(value=value, dtype=dtype):
                uses.add((CAST, f"{value.dtype.element} {dtype.element}"))
            case tir.Apply(op=name, args=args):
                of = (getattr(operand, "dtype", None) for operand in args)
                uses |= {(name, dtype.element) for dtype in of if isinstance(dtype, DType)}
    return frozenset(uses)


def _seldom(node: Node) -> str:
    """What few programs have and is no operator: its kind, and the group of dtypes that matters; empty: none."""
    match node:
        case tir.Let(var=tir.Var(dtype=dtype)):
            return "let of a float that is stored as an integer" if _is_stored(dtype) else "let"
        case tir.Bind(var=tir.Var(dtype=dtype)) if _is_stored(dtype):
            return BINDING
        case tir.PrimFunc(params=params) if any(_is_stored(param.dtype) for param in params):
            return "parameter that is a float stored as an integer"
        case tir.Shuffle():
            return "shuffle"
        case tir.MatchBufferRegion():
            return "match buffer"
        case tir.IntImm(value=value, dtype=dtype) if value > LARGEST or (dtype.scalar.bits < NARROW and dtype != BOOL):
            return f"literal of {dtype.element}"
        case tir.FloatImm(dtype=dtype) if dtype.scalar.bits <= NARROW:
            return f"literal of {group_of(dtype)}"
    return ""


def _binds_repeated(nodes: Sequence[Node]) -> bool:
    """Whether such a float is computed twice: TVM binds what is common to expressions."""
    computed = [node for node in nodes if isinstance(node, tir.Cast | tir.Apply) and _is_stored(node.dtype)]
    return any(structural_equal(*pair) for pair in combinations(computed[:COMPARED], 2))


def _turned(index: Node) -> Iterator[str]:
    """Divisions of a difference in an index, which TVM rewrites in a way of its own."""
    for node in walk(index):
        match node:
            case tir.Apply(op="floormod" | "floordiv" as name, args=(tir.Apply(op="sub", args=(_, other)), _)):
                if not isinstance(other, tir.IntImm):
                    yield f"{name}{IN_INDEX}"


def _casts(node: object) -> Iterator[tuple[DType, DType]]:
    """The casts that stand one in the other at the top of an expression: from which dtype to which."""
    while isinstance(node, tir.Cast):
        yield node.value.dtype, node.dtype
        node = node.value


def branches_in(module: IRModule) -> frozenset[str]:
    """The kinds of nodes of a program that decide what is executed, where few programs have them."""
    nodes = (node for function in module.functions.values() for node in walk(function))
    return frozenset(type(node).__name__ for node in nodes if isinstance(node, BRANCHES))


def _is_stored(dtype: DType) -> bool:
    """Whether TVM keeps such floats as integers of their size."""
    return dtype.is_float and (dtype.scalar.bits <= NARROW or dtype.element == "bfloat16")


def spelled(operator: str) -> str:
    """An operator as names of cases spell it."""
    return operator.replace(".", "-").replace("_", "-")


def has_nothing(module: IRModule) -> bool:
    """Whether a tensor or a buffer of a program has no elements."""
    nodes = [node for function in module.functions.values() for node in walk(function)]
    shapes = [getattr(node, "shape", None) for node in nodes]
    extents = [extent for shape in shapes if isinstance(shape, tuple) for extent in shape]
    values = [getattr(node, "values", None) for node in nodes if isinstance(node, relax.ShapeExpr)]
    extents += [extent for shape in values if isinstance(shape, tuple) for extent in shape]
    return any(isinstance(extent, tir.IntImm) and extent.value == 0 for extent in extents)


def is_narrow(use: tuple[str, str]) -> bool:
    """Whether a use is of a float of 8 bits or less."""
    scalars = (SCALARS[name] for name in use[1].split() if name in SCALARS)
    return any(scalar.kind == "float" and scalar.bits <= NARROW for scalar in scalars)
