"""A PrimFunc as one C function, called from outside as from other generated functions.

It looks first whether the variables of shapes are as declared and whether a written buffer overlaps another (the rest
takes them as apart), then does what the body says, then gives its memory back.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import get_args

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.scopes import is_thread
from refmlc.lang.ir.threads import exchanges, meeting_in_part, return_of_a_thread
from refmlc.lang.ir.unexecuted import refusal
from refmlc.native.analysis.facts import Facts
from refmlc.native.analysis.initialisation import find_initialisation
from refmlc.native.analysis.turns import turns
from refmlc.native.emit.access import times
from refmlc.native.emit.buffers import product
from refmlc.native.emit.expressions import value
from refmlc.native.emit.state import Needs, Place, State, Unsuited
from refmlc.native.emit.statements import statement
from refmlc.native.options import Options
from refmlc.native.text import Line, Text
from refmlc.native.unit import BufferParam, Param, ScalarParam, Unit
from refmlc.rewrite.launches.entries import has_entry
from refmlc.run.memory.cells import cell_size

MOST = 1 << 40  # the greatest size or stride: products of three indices stay exact in int64


@dataclass(frozen=True, slots=True)
class Emitted:
    """A unit with its C and what that includes."""

    unit: Unit
    lines: tuple[Line, ...]
    needs: Needs


def emit_function(func: tir.PrimFunc, name: str, symbol: str, options: Options) -> Emitted:
    """`func` in C. Raises `Unsuited` where it cannot be translated."""
    leaving = return_of_a_thread(func.body)
    if leaving is not None:
        raise Unsuited("a thread of several returns", leaving.span)
    func, reason = turns(func)
    meeting = meeting_in_part(func.body)
    if meeting:
        raise Unsuited(f"the threads of a part of a block meet at {meeting}, and {reason}", func.span)
    if has_entry(func):
        raise Unsuited(f"its threads are launched by `T.device_entry`, and {reason}", func.span)
    initialisation = find_initialisation(func)
    axes = _thread_axes(initialisation.nodes)
    if axes and exchanges(func):
        raise Unsuited(f"its threads wait for each other, and {reason}", func.span)
    state = State(name, options, Facts.entry(func), initialisation, axes=axes, symbol=symbol)
    params = tuple(_param(state, func, var) for var in func.params)
    dims = shape_variables(func)
    scalar_names = {param.var: _scalar_parameter(state, param) for param in params if isinstance(param, ScalarParam)}
    for var in dims:
        state.declare(var)
    cells = {param: _cells(state, param) for param in params if isinstance(param, BufferParam)}
    for var in dims:
        _bound_variable(state, var)
    for param, (pointer, shadow) in cells.items():
        shape = tuple(_part(state, part) for part in param.buffer.shape)
        strides = tuple(_part(state, part) for part in param.buffer.strides)
        offset = param.buffer.elem_offset
        base = "" if offset is None else _part(state, offset)
        state.buffers[param.buffer] = Place(pointer, shadow, shape, strides, base=base)
    _check_overlap(state, params)
    with state.counting(f"body of {name}", func.span):
        statement(state, func.body)
    unit = Unit(name, symbol, params, dims, _result(func, initialisation.nodes), tuple(state.blocks), len(state.sites))
    signature = ", ".join(_signature(state, unit, cells, scalar_names))
    return Emitted(unit, (*chain.from_iterable(state.parts), *_lines(state, func, unit, signature)), state.needs)


def shape_variables(func: tir.PrimFunc) -> tuple[tir.Var, ...]:
    """The variables that the shapes, strides and offsets of the parameters bind, in the order of their first use."""
    variables: dict[tir.Var, None] = {}
    for var in func.params:
        if var in func.buffer_map:
            buffer = func.buffer_map[var]
            offset = () if buffer.elem_offset is None else (buffer.elem_offset,)
            parts = (*buffer.shape, *buffer.strides, *offset)
            variables.update((part, None) for part in parts if isinstance(part, tir.Var) and part not in func.params)
    return tuple(variables)


def _thread_axes(nodes: Iterable[Node]) -> frozenset[str]:
    """The thread axes that loops among `nodes` are bound to."""
    return frozenset(node.tag for node in nodes if isinstance(node, tir.ThreadVar) and is_thread(node.tag))


def _param(state: State, func: tir.PrimFunc, var: tir.Var) -> Param:
    buffer = func.buffer_map.get(var)
    if buffer is not None and refusal(buffer):
        raise Unsuited(refusal(buffer), buffer.span)
    if buffer is None:
        if var.dtype.kind in ("handle", "void") or var.dtype.is_vector:
            raise Unsuited(f"parameter `{var.name}` is a bare {var.dtype}", var.span)
        return ScalarParam(var)
    if buffer.dtype.is_vector or buffer.dtype.kind in ("handle", "void"):
        raise Unsuited(f"the elements of `{buffer.name}` are of {buffer.dtype}", buffer.span)
    use = state.initialisation.use_of(buffer)
    return BufferParam(var, buffer, use.loaded, use.stored, state.tracks(buffer), use.covered)


def _scalar_parameter(state: State, param: ScalarParam) -> str:
    """The name of the C parameter of a scalar: what it is passed as may be wider than what it is."""
    dtype, name = param.var.dtype, state.declare(param.var)
    c_type = state.variable_type(dtype)
    if dtype.element in ("int32", "int64", "float64"):
        return name
    parameter = state.names.new(f"{name}_given")
    state.text.line(f"const {c_type} {name} = ({c_type}){parameter};")
    return parameter


def _cells(state: State, param: BufferParam) -> tuple[str, str]:
    """The names of the pointer to the elements and of the pointer to the shadow."""
    name = state.names.new(param.buffer.name)
    state.use(param.buffer.dtype)
    return name, state.names.new(f"{param.buffer.name}_written") if param.tracked else ""


def _bound_variable(state: State, var: tir.Var) -> None:
    """A variable of a shape is not negative, and no greater than its dtype and `MOST` allow."""
    limit = min(var.dtype.maximum, MOST)
    state.text.line(f"RM_CHECK({state.variable(var)} >= 0 && {state.variable(var)} <= INT64_C({limit}), 0);")
    state.facts = state.facts.bind_range(var, 0, limit + 1)


def _part(state: State, part: tir.Expr) -> str:
    return state.temp("int64_t", value(state, part))


def _check_overlap(state: State, params: tuple[Param, ...]) -> None:
    """Leave where a written buffer overlaps another one."""
    buffers = [param for param in params if isinstance(param, BufferParam)]
    for number, a in enumerate(buffers):
        for b in buffers[number + 1 :]:
            if a.stored or b.stored:
                first, second = (f"{state.buffers[p.buffer].cells}, {_bytes(state, p.buffer)}" for p in (a, b))
                state.text.line(f"if (rm_overlap({first}, {second})) return RM_OVERLAP;")


def _bytes(state: State, buffer: tir.Buffer) -> str:
    """How many bytes the elements of a parameter reach over."""
    place = state.buffers[buffer]
    reach = product(place.shape)
    if place.strides:
        steps = [times(f"({n} - 1)", step) for n, step in zip(place.shape, place.strides, strict=True)]
        reach = f"({reach} > 0 ? 1 + {' + '.join(steps)} : 0)"
    size = cell_size(buffer.dtype)
    return str(int(reach) * size) if reach.isdigit() else f"rm_times({reach}, {size})"


def _lines(state: State, func: tir.PrimFunc, unit: Unit, signature: str) -> list[Line]:
    frame, body = Text(), Text(1)
    frame.comment(unit.name, func.span)
    frame.line(f"int64_t {unit.symbol}({signature}) {{")
    body.line("int64_t status = RM_DONE;")
    for owner in state.heap:
        body.line(f"rm_block {owner} = {{NULL, 0}};")
    body.add(state.text.lines)
    frame.add(body.lines)
    frame.line("leave: RM_UNUSED;" if not state.heap else "leave:")
    end = Text(1)
    for owner in state.heap:
        end.line(f"rm_give(run, &{owner});")
    end.line("return status;")
    frame.add(end.lines)
    frame.line("}")
    return frame.lines


def _signature(
    state: State, unit: Unit, cells: dict[BufferParam, tuple[str, str]], scalar_names: dict[tir.Var, str]
) -> Iterator[str]:
    yield "rm_run *const run"
    for param in unit.params:
        if isinstance(param, ScalarParam):
            yield f"const {'double' if param.var.dtype.is_float else 'int64_t'} {scalar_names[param.var]}"
            continue
        pointer, shadow = cells[param]
        constant = "" if param.stored else "const "
        yield f"{constant}rm_{param.buffer.dtype.element}_cell *restrict const {pointer}"
        if shadow:
            yield f"uint8_t *restrict const {shadow}"
    yield from (f"const int64_t {state.variable(var)}" for var in unit.dims)


def _result(func: tir.PrimFunc, nodes: Iterable[Node]) -> DType | None:
    """The dtype of what the function returns; None: nothing, ever. On all ways it is the one or the other."""
    returned: set[DType | None] = set()
    for node in nodes:
        match node:
            case tir.Return(result) | tir.Call(callee="ret", args=(result, *_)):
                returned.add(result.dtype if isinstance(result, get_args(tir.Expr)) else None)
            case tir.Call(callee="ret"):
                returned.add(None)
            case _:
                continue
    if returned <= {None}:
        return None
    if len(returned) > 1 or not _ends_in_return(func.body):
        raise Unsuited("it returns a value on some ways only", func.span)
    return returned.pop()


def _ends_in_return(node: tir.Stmt) -> bool:
    """True if every path through `node` returns."""
    match node:
        case tir.Return() | tir.Evaluate(tir.Call(callee="ret")):
            return True
        case tir.SeqStmt(seq):
            return bool(seq) and _ends_in_return(seq[-1])
        case tir.AttrStmt(body=body):
            return _ends_in_return(body)
        case tir.SBlockRealize(block=tir.SBlock(iter_vars=(), body=body)):
            return isinstance(node.predicate, tir.IntImm) and _ends_in_return(body)
        case tir.IfThenElse(then_case=then_case, else_case=else_case):
            return else_case is not None and _ends_in_return(then_case) and _ends_in_return(else_case)
        case _:
            return False
