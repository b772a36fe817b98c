"""Functions of TensorIR: their Python source, and its compiled form.

A function gets the meter of the call, then its arguments: an `Array` for a buffer, a pointer or an array for another
handle, a number. The source is compiled when a function is first called, all functions of the module at once.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from refmlc.lang.dtypes import DType
from refmlc.lang.ir import tir
from refmlc.lang.ir.unexecuted import refusal
from refmlc.oracle.implementations.loops.arithmetic import put
from refmlc.oracle.implementations.loops.compiler import define
from refmlc.oracle.implementations.loops.memory import Array, Meaningless, Meter, Pointer
from refmlc.oracle.implementations.loops.operators import NotTaken
from refmlc.oracle.implementations.loops.statements import bind_declared, check_threads, multiple, write
from refmlc.oracle.implementations.loops.writer import Names, Writer


class CompiledFunction(Protocol):
    """A function that was compiled."""

    def __call__(self, meter: Meter, *args: object) -> object:
        """Run it."""


class Functions:
    """The functions of TensorIR of a module."""

    def __init__(self, functions: Mapping[str, tir.PrimFunc]) -> None:
        self._functions = functions
        self._names = Names()
        self._known = {name: self._names.fresh("f") for name in functions}
        self._compiled_functions: dict[str, CompiledFunction | str] = {}
        self._space: dict[str, object] = self._names.objects

    def get(self, name: str) -> CompiledFunction:
        """The function called `name`. Fails: `NotTaken` where it, or what it calls, is not taken."""
        if name not in self._compiled_functions:
            try:
                self._compiled_functions[name] = self._compiled(name)
            except NotTaken as problem:
                self._compiled_functions[name] = str(problem)
        compiled = self._compiled_functions[name]
        if isinstance(compiled, str):
            raise NotTaken(compiled)
        return compiled

    def _compiled(self, name: str) -> CompiledFunction:
        text = self.source(name)
        for other, spelled in self._known.items():
            if other != name and f"{spelled}(" in text:
                self._later(other, spelled)
        define(text, self._space)
        function = self._space[self._known[name]]
        assert callable(function)  # noqa: S101 - the source defines it
        return function

    def _later(self, name: str, spelled: str) -> None:
        """What another function calls is compiled when it is called."""
        if spelled not in self._space:
            self._space[spelled] = lambda meter, *args: self.get(name)(meter, *args)  # noqa: PLW0108 - looked up later

    def source(self, name: str) -> str:
        """The source of function `name`. Fails: `NotTaken`."""
        func = self._functions[name]
        check_threads(func)
        writer = Writer(self._names, self._known)
        writer.meter = self._names.fresh("meter")
        names = [self._names.fresh("a") for _ in func.params]
        writer.line(f"def {self._known[name]}({', '.join([writer.meter, *names])}):")
        try:
            with writer.indented():
                writer.line(f"{writer.meter}.tick()")
                _take(writer, func, names)
                write(writer, func.body)
        except RecursionError:
            raise NotTaken("a nesting that Python does not compile") from None
        return "\n".join(writer.lines) + "\n"


def _take(writer: Writer, func: tir.PrimFunc, names: Sequence[str]) -> None:
    """Arguments become what the parameters declare; variables of shapes are bound over all before any is compared."""
    declarations = []
    for param, name in zip(func.params, names, strict=True):
        buffer = func.buffer_map.get(param)
        if buffer is None:
            convert = writer.bind(f"put_argument_{param.dtype}", _taker(param.dtype))
            writer.line(f"{writer.declare(param)} = {convert}({name})")
            continue
        if refusal(buffer):
            raise NotTaken(refusal(buffer))
        fits = writer.bind("fits", fitting)
        kind = writer.bind(f"put_dtype_{buffer.dtype}", buffer.dtype)
        writer.line(f"{fits}({name}, {kind}, {len(buffer.shape)}, {bool(buffer.strides)})")
        writer.vars[param] = name
        declarations += [(extent, f"{name}.shape[{axis}]") for axis, extent in enumerate(buffer.shape)]
        declarations += [(step, f"{name}.steps[{axis}]") for axis, step in enumerate(buffer.strides)]
        if buffer.elem_offset is not None:
            offset = f"{name}.offset"
            declarations.append(
                (buffer.elem_offset, f"{writer.bind('multiple', multiple)}({offset}, {buffer.offset_factor})")
            )
        array, place = writer.declare_buffer(buffer)
        writer.line(f"{place} = {name}.pointer" if buffer.elem_offset is None else f"{place} = {name}.origin")
        writer.line(f"{array} = {name}.numpy()")
    bind_declared(writer, declarations)


def fitting(value: object, kind: DType, rank: int, strided: bool) -> None:
    """Fails: `Meaningless` where an argument is not what the parameter declares."""
    if not isinstance(value, Array) or value.dtype != kind or len(value.shape) != rank:
        raise Meaningless(f"an argument that is not a tensor of {kind} with {rank} axes")
    if value.strides is not None and not strided:
        raise Meaningless("an argument with strides where the parameter has none")


class _Taker(Protocol):
    def __call__(self, value: object) -> object: ...


def _taker(kind: DType) -> _Taker:
    """What makes an argument a value of `kind`; handles point to the first element."""
    if kind.kind == "handle":
        return _handle
    if kind.is_vector or kind.kind == "void":
        raise NotTaken(f"a parameter of {kind}")
    inner = put(kind)

    def take(value: object) -> object:
        if not isinstance(value, bool | int | float | np.generic):
            raise Meaningless(f"an argument that is not a {kind}")
        return inner(value)

    return take


def _handle(value: object) -> object:
    if isinstance(value, Array):
        return value.pointer
    if value is None or isinstance(value, Pointer):
        return value
    raise Meaningless("an argument that is not a handle")
