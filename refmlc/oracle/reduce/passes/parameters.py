"""Parameters dropped, at every call as well: in the module, and among the arguments of a case.

| parameter           | what used it                                                      |
|---------------------|-------------------------------------------------------------------|
| a buffer            | as in `buffers`: loads are 0 or 1, stores are nothing             |
| … or                | it is allocated instead                                           |
| a number            | is 0, 1, or what the first call gives                             |
| a value of Relax    | nothing, or another parameter                                     |
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from refmlc.lang.ir import relax, tir, types
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite, substitute
from refmlc.oracle.reduce.passes.buffers import untouched
from refmlc.oracle.reduce.passes.literals import has_numbers, number
from refmlc.oracle.reduce.subject import Edit, Function, Subject, graphs, prim_funcs
from refmlc.strategies.arguments import Argument, Number, Same

FEW = 4  # parameters of Relax that are tried in the place of one


def drop_parameters(subject: Subject) -> Iterator[Edit]:
    """A function with one parameter less."""
    for name, function in prim_funcs(subject):
        for place in reversed(range(len(function.params))):
            param = function.params[place]
            if param in function.buffer_map:
                for value in (0, 1):
                    yield partial(_without_buffer, subject, name, function, place, value)
                yield partial(_allocated, subject, name, function, place)
            elif has_numbers(param.dtype):
                for number in dict.fromkeys((0, 1, *_given(subject, name, place))):
                    yield partial(_without_number, subject, name, function, place, number)
    for name, graph in graphs(subject):
        for place in reversed(range(len(graph.params))):
            others = [each for each in graph.params if each is not graph.params[place]]
            yield partial(_without_value, subject, name, graph, place, None)
            for other in others[:FEW]:
                yield partial(_without_value, subject, name, graph, place, other)


def _given(subject: Subject, name: str, place: int) -> list[int | float]:
    """The numbers that the first call passes."""
    if name != subject.func or not subject.calls or place >= len(subject.calls[0]):
        return []
    argument = subject.calls[0][place]
    return [argument.value] if isinstance(argument, Number) else []


def _less(function: tir.PrimFunc, place: int) -> tir.PrimFunc:
    param = function.params[place]
    buffer_map = {key: value for key, value in function.buffer_map.items() if key is not param}
    return replace(function, params=(*function.params[:place], *function.params[place + 1 :]), buffer_map=buffer_map)


def _without_buffer(subject: Subject, name: str, function: tir.PrimFunc, place: int, value: int) -> Subject:
    buffer = function.buffer_map[function.params[place]]
    return _called(subject, name, untouched(_less(function, place), buffer, value), place)


def _allocated(subject: Subject, name: str, function: tir.PrimFunc, place: int) -> Subject:
    buffer = function.buffer_map[function.params[place]]
    less = _less(function, place)
    body = tir.SeqStmt((tir.AllocBuffer(buffer), less.body))
    if isinstance(less.body, tir.SBlockRealize) and less.body.block.name == "root":
        block = less.body.block
        body_of_root = replace(block, alloc_buffers=(*block.alloc_buffers, buffer))
        return _called(subject, name, replace(less, body=replace(less.body, block=body_of_root)), place)
    return _called(subject, name, replace(less, body=body), place)


def _without_number(subject: Subject, name: str, function: tir.PrimFunc, place: int, value: int | float) -> Subject:
    param = function.params[place]
    return _called(subject, name, substitute(_less(function, place), {param: number(param.dtype, value)}), place)


def _without_value(subject: Subject, name: str, graph: relax.Function, place: int, other: relax.Var | None) -> Subject:
    less = replace(graph, params=(*graph.params[:place], *graph.params[place + 1 :]))
    if other is not None:
        less = substitute(less, {graph.params[place]: other})
    return _called(subject, name, less, place)


def _called(subject: Subject, name: str, function: Function, place: int) -> Subject:
    """The subject with the new function, an argument less at every call of it."""
    functions: dict[str, Function] = {**subject.module.functions, name: function}

    def change(node: Node) -> Node:
        match node:
            case tir.Call(tir.GlobalVar(callee), args) if callee == name:
                return replace(node, args=(*args[:place], *args[place + 1 :]))
            case relax.Call(tir.GlobalVar(callee), values) if callee == name:
                return replace(node, args=(*values[:place], *values[place + 1 :]))
            case relax.Call(relax.Op(), (tir.GlobalVar(callee), relax.Tuple() as operands, *_)) if callee == name:
                return _passed(node, operands, place)
            case _:
                return node

    changed = subject.with_module(
        replace(
            subject.module,
            functions={key: rewrite(function_of_module, change) for key, function_of_module in functions.items()},
        )
    )
    if name != subject.func:
        return changed
    return replace(changed, calls=tuple(_fewer(call, place) for call in subject.calls))


def _passed(call: relax.Call, operands: relax.Tuple, place: int) -> relax.Call:
    """A `call_tir` with an operand less, or an output."""
    count = len(operands.fields)
    if place < count:
        fewer = replace(operands, fields=(*operands.fields[:place], *operands.fields[place + 1 :]))
        return replace(call, args=(call.args[0], fewer, *call.args[2:]))
    match call.ty_args:
        case (types.TupleType(fields),) if len(fields) > 1:
            left = (*fields[: place - count], *fields[place - count + 1 :])
            return replace(call, ty_args=(left[0] if len(left) == 1 else types.TupleType(left),))
        case _:
            return call


def _fewer(call: tuple[Argument, ...], place: int) -> tuple[Argument, ...]:
    """The arguments without one; what referred to it, or to later ones, still means the same."""
    gone = call[place] if place < len(call) else None
    arguments: list[Argument] = []
    for position, argument in enumerate(call):
        if position == place:
            continue
        if isinstance(argument, Same) and argument.number == place and gone is not None:
            arguments.append(gone)
        elif isinstance(argument, Same) and argument.number > place:
            arguments.append(Same(argument.number - 1))
        else:
            arguments.append(argument)
    return tuple(arguments)
