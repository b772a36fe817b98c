"""Functions: arguments are matched with parameters, the body runs in a fresh frame (TIR-001).

The order: number and kind of the arguments, scalars, the variables in shapes of tensors, everything else in shapes.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, MATCH_FAILED
from refmlc.diag.errors import RefmlcError
from refmlc.lang.dtypes.rounding import rounder
from refmlc.lang.ir import tir
from refmlc.run.interp.tensorir.buffers import DeclarationMatch, refused
from refmlc.run.interp.tensorir.c_abi import enter_packed, is_packed_entry
from refmlc.run.interp.tensorir.frame import Eval, Frame, Run
from refmlc.run.interp.tensorir.jumps import Returning
from refmlc.run.interp.tensorir.placed import is_placed, refusal, view_placed
from refmlc.run.interp.tensorir.scope import Scope
from refmlc.run.interp.tensorir.views import BufferPlace, View, view_of_tensor
from refmlc.run.memory.cells import cell_size
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import kind_of

if TYPE_CHECKING:
    from refmlc.run.interp.machine import Machine


def prepare_prim_func(
    func: tir.PrimFunc,
    name: str,
    machine: "Machine",
    prepare_expr: Callable[[Scope, tir.Expr], Eval],
    prepare_stmt: Callable[[Scope, tir.Stmt], Run],
) -> Callable[[Sequence[object]], object]:
    """The function as a callable on its arguments; destination tensors among them are written.

    `prepare_expr` and `prepare_stmt` are the meaning of its nodes.
    """
    scope = Scope(machine, name, prepare_expr, prepare_stmt, func=func)
    parameters = Parameters(func, scope)
    strange = next((buffer for buffer in func.buffer_map.values() if refusal(buffer)), None)
    body = scope.stmt(func.body) if strange is None else refused(scope, strange)
    layout, budget = scope.layout, machine.budget

    def call(args: Sequence[object]) -> object:
        budget.charge_steps(1, func.span)
        frame = layout.frame(name)
        parameters.match(frame, args)
        try:
            body(frame)
        except Returning as returning:
            return returning.value
        except RefmlcError as failure:
            machine.locate(failure, frame)
            raise
        return None

    return enter_packed(call) if is_packed_entry(func) else call


class Parameters:
    """The parameters of a function, and the binding of arguments in its frame."""

    def __init__(self, func: tir.PrimFunc, scope: Scope) -> None:
        """Declare parameters, buffers, and the variables that shapes bind."""
        self._func = func
        self._name = scope.function
        self._machine = scope.machine
        self._slots = [scope.layout.declare(param) for param in func.params]
        self._buffers: dict[int, tuple[BufferPlace, DeclarationMatch]] = {}
        for number, param in enumerate(func.params):
            if param in func.buffer_map:
                buffer = func.buffer_map[param]
                declaration = DeclarationMatch(scope, buffer, self._failing(buffer))
                self._buffers[number] = (scope.declare_buffer(buffer), declaration)
        for _, declaration in self._buffers.values():
            declaration.close(scope)

    def match(self, frame: Frame, args: Sequence[object]) -> None:
        """Put `args` into `frame`. Fails: RM111 when the call comes from outside, RM314 when from the module."""
        if len(args) != len(self._func.params):
            raise self._wrong(f"`{self._name}` takes {len(self._func.params)} arguments, {len(args)} are given")
        views: dict[int, View] = {}
        for number, (arg, slot) in enumerate(zip(args, self._slots, strict=True)):
            if number in self._buffers:
                views[number] = view = self._view(number, arg)
                frame[slot] = view.tensor()
            else:
                frame[slot] = self._value(self._func.params[number], arg)
        for number, view in views.items():
            self._buffers[number][1].bind(frame, view.shape, view.strides, view.offset)
        for number, view in views.items():
            place, declaration = self._buffers[number]
            declaration.check(frame, view.shape, view.strides, view.offset)
            placed = is_placed(place.buffer) and not refusal(place.buffer)
            place.put(frame, view_placed(place.buffer, view.data, view.shape, view.offset) if placed else view)

    # TIR-003
    def _view(self, number: int, arg: object) -> View:
        buffer = self._buffers[number][0].buffer
        if isinstance(arg, np.ndarray):
            arg = Tensor.from_numpy(arg)
        if not isinstance(arg, Tensor):
            raise self._wrong(f"`{buffer.name}` of `{self._name}` is a tensor, {kind_of(arg)} is given", buffer)
        if arg.dtype != buffer.dtype:
            raise self._wrong(
                f"`{buffer.name}` of `{self._name}` has elements of {buffer.dtype}, the tensor given of {arg.dtype}",
                buffer,
            )
        if arg.strides is not None and not buffer.strides:
            raise self._wrong(f"`{buffer.name}` of `{self._name}` is compact, the tensor given is not", buffer)
        view = view_of_tensor(buffer, arg)
        size = cell_size(buffer.dtype) * buffer.dtype.lanes
        if buffer.elem_offset is not None and arg.byte_offset % size == 0:
            offset = arg.byte_offset // size
            return View(buffer, Pointer(arg.storage), view.shape, view.strides, offset, view.cells, view.shadow)
        return view

    # TIR-002
    def _value(self, param: tir.Var, arg: object) -> object:
        dtype = param.dtype
        if isinstance(arg, np.generic):
            arg = arg.item()
        match dtype.kind:
            case "bool" if isinstance(arg, bool | int) and arg in (0, 1):
                return bool(arg)
            case "int" | "uint" if isinstance(arg, int) and dtype.minimum <= arg <= dtype.maximum:
                return int(arg)
            case "float" if isinstance(arg, int | float):
                return rounder(dtype)(float(arg))
            case "handle":
                return arg
            case _:
                raise self._wrong(f"`{param.name}` of `{self._name}` is {dtype}, {kind_of(arg)} is given", param)

    def _failing(self, buffer: tir.Buffer) -> Callable[..., RefmlcError]:
        def failure(_frame: Frame, message: str) -> RefmlcError:
            return self._wrong(f"{message} (in `{self._name}`)", buffer)

        return failure

    def _wrong(self, message: str, declared: tir.Buffer | tir.Var | None = None) -> RefmlcError:
        code = BAD_INPUT if self._machine.depth <= 1 else MATCH_FAILED
        span = self._func.span if declared is None else declared.span
        return fail(code, message, span)
