"""Functions made fewer, with fewer and simpler attributes, parameters and arguments.

Parameters are dropped at every call as well: in the module, and among the arguments of a case.

| parameter           | what used it                                                      |
|---------------------|-------------------------------------------------------------------|
| a buffer            | as in `buffers`: loads are 0 or 1, stores are nothing             |
| … or                | it is allocated instead                                           |
| a number            | is 0, 1, or what the first call gives                             |
| a value of Relax    | nothing, or another parameter                                     |

Calls become fewer, and recipes of arguments simpler; sizes shrink with the module's extents.

| recipe   | becomes                                                     |
|----------|-------------------------------------------------------------|
| calls    | some of them                                                |
| an array | compact, a simpler way, seed 0, half the range of integers  |
| a number | 0, 1, half, its opposite                                    |
| `Same`   | the array once more, apart                                  |

Attributes and whatever else is written at the head of a function are dropped: all, then one by one.

| what                                | becomes                                     |
|-------------------------------------|---------------------------------------------|
| attributes                          | none                                        |
| `private`, a declared return        | not                                         |
| `pure=False`                        | pure                                        |
| a symbolic dimension                | a constant: a size of an argument, 1, 2, 3  |
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from refmlc.lang.ir import relax, tir, types
from refmlc.lang.ir.node import Node
from refmlc.lang.ir.visit import rewrite, substitute, walk
from refmlc.lang.ops.evaluate import known
from refmlc.oracle.reduce.passes.buffers import untouched
from refmlc.oracle.reduce.passes.expressions import has_numbers, number, sizes_of
from refmlc.oracle.reduce.size import magnitude
from refmlc.oracle.reduce.subject import Edit, Function, Subject, graphs, prim_funcs, spans_of
from refmlc.strategies.arguments import Argument, Array, Number, Same, TupleOf


def drop_functions(subject: Subject) -> Iterator[Edit]:
    """The module without some of its functions, never without the one that is called."""
    names = [name for name in subject.module.functions if name != subject.func]
    for piece in spans_of(len(names)):
        if len(names[piece]) < len(subject.module.functions):
            yield partial(_without, subject, frozenset(names[piece]))


def _without(subject: Subject, names: frozenset[str]) -> Subject:
    functions = {name: function for name, function in subject.module.functions.items() if name not in names}
    return subject.with_module(replace(subject.module, functions=functions))


def plain_module(subject: Subject) -> Iterator[Edit]:
    """The module without attributes, without devices, called `Module`."""
    module = subject.module
    if module.attrs or module.global_infos:
        yield lambda: subject.with_module(replace(module, attrs={}, global_infos={}))
        yield lambda: subject.with_module(replace(module, attrs={}))
        yield lambda: subject.with_module(replace(module, global_infos={}))
    if module.name != "Module":
        yield lambda: subject.with_module(replace(module, name="Module"))


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
                for number in dict.fromkeys((0, 1, *_numbers_passed(subject, name, place))):
                    yield partial(_without_number, subject, name, function, place, number)
    for name, graph in graphs(subject):
        for place in reversed(range(len(graph.params))):
            other_params = [candidate for candidate in graph.params if candidate is not graph.params[place]]
            yield partial(_without_value, subject, name, graph, place, None)
            for replacement in other_params[:FEW]:
                yield partial(_without_value, subject, name, graph, place, replacement)


def _numbers_passed(subject: Subject, name: str, place: int) -> list[int | float]:
    """The numbers that the first call passes."""
    if name != subject.func or not subject.calls or place >= len(subject.calls[0]):
        return []
    argument = subject.calls[0][place]
    return [argument.value] if isinstance(argument, Number) else []


def _without_parameter(function: tir.PrimFunc, place: int) -> tir.PrimFunc:
    param = function.params[place]
    buffer_map = {key: value for key, value in function.buffer_map.items() if key is not param}
    return replace(function, params=(*function.params[:place], *function.params[place + 1 :]), buffer_map=buffer_map)


def _without_buffer(subject: Subject, name: str, function: tir.PrimFunc, place: int, value: int) -> Subject:
    buffer = function.buffer_map[function.params[place]]
    return _with_shortened_calls(subject, name, untouched(_without_parameter(function, place), buffer, value), place)


def _allocated(subject: Subject, name: str, function: tir.PrimFunc, place: int) -> Subject:
    buffer = function.buffer_map[function.params[place]]
    shortened = _without_parameter(function, place)
    body = tir.SeqStmt((tir.AllocBuffer(buffer), shortened.body))
    if isinstance(shortened.body, tir.SBlockRealize) and shortened.body.block.name == "root":
        block = shortened.body.block
        body_of_root = replace(block, alloc_buffers=(*block.alloc_buffers, buffer))
        return _with_shortened_calls(
            subject, name, replace(shortened, body=replace(shortened.body, block=body_of_root)), place
        )
    return _with_shortened_calls(subject, name, replace(shortened, body=body), place)


def _without_number(subject: Subject, name: str, function: tir.PrimFunc, place: int, value: int | float) -> Subject:
    param = function.params[place]
    return _with_shortened_calls(
        subject, name, substitute(_without_parameter(function, place), {param: number(param.dtype, value)}), place
    )


def _without_value(
    subject: Subject, name: str, graph: relax.Function, place: int, replacement: relax.Var | None
) -> Subject:
    shortened = replace(graph, params=(*graph.params[:place], *graph.params[place + 1 :]))
    if replacement is not None:
        shortened = substitute(shortened, {graph.params[place]: replacement})
    return _with_shortened_calls(subject, name, shortened, place)


def _with_shortened_calls(subject: Subject, name: str, function: Function, place: int) -> Subject:
    """The subject with the new function, an argument less at every call of it."""
    functions: dict[str, Function] = {**subject.module.functions, name: function}

    def change(node: Node) -> Node:
        match node:
            case tir.Call(tir.GlobalVar(callee), args) if callee == name:
                return replace(node, args=(*args[:place], *args[place + 1 :]))
            case relax.Call(tir.GlobalVar(callee), values) if callee == name:
                return replace(node, args=(*values[:place], *values[place + 1 :]))
            case relax.Call(relax.Op(), (tir.GlobalVar(callee), relax.Tuple() as operands, *_)) if callee == name:
                return _shorter_call_tir(node, operands, place)
            case _:
                return node

    shortened = subject.with_module(
        replace(
            subject.module,
            functions={key: rewrite(function_of_module, change) for key, function_of_module in functions.items()},
        )
    )
    if name != subject.func:
        return shortened
    return replace(shortened, calls=tuple(_fewer(call, place) for call in subject.calls))


def _shorter_call_tir(call: relax.Call, operands: relax.Tuple, place: int) -> relax.Call:
    """A `call_tir` with an operand less, or an output."""
    count = len(operands.fields)
    if place < count:
        fewer = replace(operands, fields=(*operands.fields[:place], *operands.fields[place + 1 :]))
        return replace(call, args=(call.args[0], fewer, *call.args[2:]))
    match call.ty_args:
        case (types.TupleType(fields),) if len(fields) > 1:
            outputs = (*fields[: place - count], *fields[place - count + 1 :])
            return replace(call, ty_args=(outputs[0] if len(outputs) == 1 else types.TupleType(outputs),))
        case _:
            return call


def _fewer(call: tuple[Argument, ...], place: int) -> tuple[Argument, ...]:
    """The arguments without one; what referred to it, or to later ones, still means the same."""
    dropped = call[place] if place < len(call) else None
    arguments: list[Argument] = []
    for position, argument in enumerate(call):
        if position == place:
            continue
        if isinstance(argument, Same) and argument.number == place and dropped is not None:
            arguments.append(dropped)
        elif isinstance(argument, Same) and argument.number > place:
            arguments.append(Same(argument.number - 1))
        else:
            arguments.append(argument)
    return tuple(arguments)


WAYS = ("steps", "small")


def drop_calls(subject: Subject) -> Iterator[Edit]:
    """Some calls are left out, never all."""
    for piece in spans_of(len(subject.calls)):
        calls = tuple(call for call in subject.calls if call not in subject.calls[piece])
        if calls:
            yield partial(replace, subject, calls=calls)


def simpler_arguments(subject: Subject) -> Iterator[Edit]:
    """All arguments are simple; then one by one."""
    plain = tuple(tuple(_plain(argument) for argument in call) for call in subject.calls)
    if plain != subject.calls:
        yield partial(replace, subject, calls=plain)
    for call_number, call in enumerate(subject.calls):
        for place, argument in enumerate(call):
            for simpler in _simpler(argument, call):
                yield partial(_with_argument, subject, call_number, place, simpler)


def _with_argument(subject: Subject, number: int, place: int, argument: Argument) -> Subject:
    call = subject.calls[number]
    new_call = (*call[:place], argument, *call[place + 1 :])
    return replace(subject, calls=(*subject.calls[:number], new_call, *subject.calls[number + 1 :]))


def _plain(argument: Argument) -> Argument:
    match argument:
        case Array():
            return replace(argument, way="steps", seed=0, form="compact" if argument.form != "fresh" else "fresh")
        case TupleOf(items):
            return TupleOf(tuple(map(_plain, items)))
        case _:
            return argument


def _simpler(argument: Argument, call: tuple[Argument, ...]) -> Iterator[Argument]:
    match argument:
        case Array():
            if argument.form != "compact":
                yield replace(argument, form="compact")
            for way in WAYS[: WAYS.index(argument.way) if argument.way in WAYS else None]:
                yield replace(argument, way=way, seed=0)
            for seed in dict.fromkeys((0, 1, 2, 3, argument.seed // 2)):
                if seed < argument.seed:
                    yield replace(argument, seed=seed)
        case Number(dtype, value):
            integer = int(value) if abs(value) < 2**53 else 2
            for simpler_value in (0, 1, integer, integer // 2, -integer):
                if magnitude(simpler_value) < magnitude(value):
                    yield Number(dtype, float(simpler_value) if dtype.is_float else simpler_value)
        case Same(place) if place < len(call):
            yield call[place]
        case _:
            pass


SIZES = (1, 2, 3, 4)


def plain_functions(subject: Subject) -> Iterator[Edit]:
    """Functions without attributes, private marks, declared returns."""
    for name, function in subject.module.functions.items():
        for plain in _plainer(function):
            yield partial(subject.with_function, name, plain)
        if not isinstance(function, relax.ExternFunc):
            for key in function.attrs:
                attrs = {name_of_attr: value for name_of_attr, value in function.attrs.items() if name_of_attr != key}
                yield partial(subject.with_function, name, replace(function, attrs=attrs))


def _plainer(function: Function) -> Iterator[Function]:
    match function:
        case tir.PrimFunc(attrs=attrs, private=private):
            if attrs:
                yield replace(function, attrs={})
            if private:
                yield replace(function, private=False)
            if function.ret_dtype is not None:
                yield replace(function, ret_dtype=None)
        case relax.Function(attrs=attrs, private=private):
            if attrs:
                yield replace(function, attrs={})
            if private:
                yield replace(function, private=False)
            if not function.pure:
                yield replace(function, pure=True)
            if function.ret_ty is not None:
                yield replace(function, ret_ty=None)
        case _:
            pass


def constant_dimensions(subject: Subject) -> Iterator[Edit]:
    """A variable of shapes is a constant; what is computed of constants in a graph is one."""
    sizes = dict.fromkeys((*sizes_of(subject.calls), *SIZES))
    functions: list[tuple[str, tir.PrimFunc | relax.Function]] = [*prim_funcs(subject), *graphs(subject)]
    for name, function in functions:
        for var in _dimensions(function):
            for size in sizes:
                yield partial(subject.with_nodes, name, {var: number(var.dtype, size)})
    for name, graph in graphs(subject):
        yield partial(subject.with_function, name, rewrite(graph, _folded))


def _folded(node: Node) -> Node:
    """An operator on integer constants as its value."""
    match node:
        case tir.Apply(args=args, dtype=dtype) if dtype.is_integer and all(isinstance(arg, tir.IntImm) for arg in args):
            value = known(node)
            return node if value is None else number(dtype, value)
        case _:
            return node


def _dimensions(function: tir.PrimFunc | relax.Function) -> list[tir.Var]:
    """The variables that nothing in the function defines but a shape."""
    defined: set[Node] = set(function.params)
    variables: dict[tir.Var, None] = {}
    for node in walk(function):
        match node:
            case tir.For(loop_var):
                defined.add(loop_var)
            case tir.IterVar(var) | tir.Bind(var) | tir.Let(var):
                defined.add(var)
            case tir.Var() if node.dtype.is_integer:
                variables[node] = None
            case _:
                pass
    return [var for var in variables if var not in defined]
