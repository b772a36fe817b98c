"""The registry: functions from outside, by global name, as `tvm.register_func` registers them.

A registry is an object; `DEFAULT` is the one that the process shares and the only module state of refmlc. Programs
find functions in it by name when they are called, so a function may be registered after the program was built.

A Python function receives tensors as `Tensor` (`torch.from_dlpack(x)`, `numpy.from_dlpack(x)`, `x.numpy()` share the
memory), shapes as `Shape`, and numbers, strings, dtypes, tuples unchanged. It may return the same kinds, lists as
tuples, NumPy arrays and DLPack objects as tensors (shared), NumPy scalars as numbers.

Decision: writes of a packed function cannot be observed, so after a call every element of every tensor argument counts
as initialised. A read-only tensor (a constant, a read-only array of the caller) is passed as a copy, because other
libraries do not honour read-only memory. A tensor that the function stores stays valid: its memory is never reused. It
shows later writes of the program, and the program sees writes through it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar, overload

import numpy as np

from refmlc.diag import RefmlcError, Span, fail
from refmlc.diag.catalogue import BAD_USAGE, NO_PACKED_FUNC, PACKED_RAISED, PACKED_RESULT, UNSUPPORTED_CONSTRUCT
from refmlc.lang.dtypes import DType
from refmlc.run.memory.initialisation import lent
from refmlc.run.memory.pointer import Pointer
from refmlc.run.memory.shipped import FUNCTIONS, OF_CUDA, reasons
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import Closure, PackedFunc, Shape

F = TypeVar("F", bound=Callable[..., object])


class FunctionRegistry:
    """Packed functions by name; names are looked up when a program calls them."""

    def __init__(self) -> None:
        self._functions: dict[str, PackedFunc] = {}

    def add(self, func: PackedFunc, *, override: bool = False) -> None:
        """Register `func` under its name. Fails: RM112 when the name is taken and `override` is not set."""
        if func.name in self._functions and not override:
            raise fail(BAD_USAGE, f"a packed function `{func.name}` is registered already; `override=True` replaces it")
        self._functions[func.name] = func

    def register(self, name: str, function: Callable[..., object], *, override: bool = False) -> None:
        """Register the Python function `function`. Fails: RM112."""
        self.add(python_func(name, function), override=override)

    def remove(self, name: str) -> None:
        """Remove the function `name`, if there is one."""
        self._functions.pop(name, None)

    def get_func(self, name: str, span: Span | None = None) -> PackedFunc:
        """The function `name`: the one registered, else the one of TVM's own runtime (RLX-132).

        Fails: RM402; RM504 (TVM's runtime has it, but it has no meaning here).
        """
        registered = self._functions.get(name)
        if registered is not None:
            return registered
        shipped = FUNCTIONS.get(name) or OF_CUDA.get(name)
        if shipped is not None:
            return python_func(name, shipped)
        if name in reasons():
            message = f"`{name}` of TVM's runtime is not supported: {reasons()[name]}"
            raise fail(UNSUPPORTED_CONSTRUCT, message, span, "a function registered under this name takes its place")
        raise fail(NO_PACKED_FUNC, f"no packed function `{name}` is registered", span)

    def __contains__(self, name: str) -> bool:
        """Whether a function `name` is registered."""
        return name in self._functions

    def __iter__(self) -> Iterator[str]:
        """The names, in the order of registration."""
        return iter(self._functions)


DEFAULT = FunctionRegistry()


@overload
def register_func(name: F) -> F: ...
@overload
def register_func(
    name: str, f: None = None, override: bool = False, *, registry: FunctionRegistry = ...
) -> Callable[[F], F]: ...
@overload
def register_func(name: str, f: F, override: bool = False, *, registry: FunctionRegistry = ...) -> F: ...
def register_func(
    name: str | F, f: F | None = None, override: bool = False, *, registry: FunctionRegistry = DEFAULT
) -> F | Callable[[F], F]:
    """Register a Python function under a global name: as a call, as `@register_func("name")`, as `@register_func`.

    Fails: RM112 when the name is taken and `override` is not set, or `f` cannot be called.
    """
    if not isinstance(name, str):
        registry.add(python_func(name.__name__, name))
        return name
    if f is not None:
        registry.add(python_func(name, f), override=override)
        return f

    def decorate(function: F) -> F:
        registry.add(python_func(name, function), override=override)
        return function

    return decorate


def get_func(name: str, span: Span | None = None) -> PackedFunc:
    """The function `name` of the default registry. Fails: RM402."""
    return DEFAULT.get_func(name, span)


def python_func(name: str, function: Callable[..., object]) -> PackedFunc:
    """`function` as a packed function. Fails: RM112 when it cannot be called."""
    if not callable(function):
        raise fail(BAD_USAGE, f"`{name}` is registered with {function!r}, which cannot be called")

    def call(args: Sequence[object], span: Span | None) -> object:
        values = protected(args)
        try:
            with lent(tensors_in(values)):
                result = function(*values)
        except RefmlcError:
            raise
        except Exception as reason:
            raise raised(name, reason, span) from reason
        check_written(name, args, values, span)
        try:
            return as_value(result, name, span)
        except RecursionError:
            message = f"the packed function `{name}` returned a list that nests too deep, or holds itself"
            raise fail(PACKED_RESULT, message, span) from None

    return PackedFunc(name, call)


def protected(args: Sequence[object]) -> list[object]:
    """`args` with read-only tensors copied, because other libraries do not honour read-only memory."""
    return [_protected(arg) for arg in args]


def _protected(arg: object) -> object:
    if isinstance(arg, Tensor):
        return arg if arg.writable else arg.copy(origin=arg.storage.origin)
    if isinstance(arg, tuple) and not isinstance(arg, Shape):
        return tuple(_protected(item) for item in arg)
    return arg


def tensors_in(values: Iterable[object]) -> Iterator[Tensor]:
    """The tensors among values, those in tuples too."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, tuple) and not isinstance(value, Shape):
            yield from tensors_in(value)


def check_written(name: str, args: Sequence[object], passed: Sequence[object], span: Span | None) -> None:
    """After a call: mark tensors as initialised. Fails: RM404 if a read-only one, `passed` as a copy, has changed."""
    for number, (arg, copy) in enumerate(zip(args, passed, strict=True)):
        if isinstance(arg, tuple) and isinstance(copy, tuple) and not isinstance(arg, Shape):
            check_written(name, arg, copy, span)
        elif isinstance(arg, Tensor) and arg.writable:
            arg.mark_initialised()
        elif isinstance(arg, Tensor) and isinstance(copy, Tensor) and copy.array.tobytes() != arg.array.tobytes():
            message = f"the packed function `{name}` wrote into argument {number}, which is read-only"
            raise fail(PACKED_RESULT, message, span)


def raised(name: str, reason: Exception, span: Span | None) -> RefmlcError:
    """The trap RM403 for an exception of the function."""
    text = str(reason).strip()
    exception = f"{type(reason).__name__}: {text}" if text else type(reason).__name__
    return fail(PACKED_RAISED, f"the packed function `{name}` raised {exception}", span)


def as_value(result: object, name: str, span: Span | None = None) -> object:
    """The result of a packed function as a value. Fails: RM404."""
    match result:
        case (
            None
            | bool()
            | int()
            | float()
            | str()
            | Tensor()
            | Shape()
            | DType()
            | Closure()
            | PackedFunc()
            | Pointer()
        ):
            return result
        case tuple() | list():
            return tuple(as_value(item, name, span) for item in result)
        case np.generic() if isinstance(result.item(), bool | int | float):
            return result.item()
        case _ if not hasattr(result, "__dlpack__"):
            message = f"the packed function `{name}` returned an object of type {type(result).__qualname__}"
            raise fail(PACKED_RESULT, message, span)
    try:
        return Tensor.from_numpy(result) if isinstance(result, np.ndarray) else Tensor.from_dlpack(result)
    except RefmlcError as reason:
        message = f"the packed function `{name}` returned a tensor that cannot be used: {reason.diagnostic.message}"
        raise fail(PACKED_RESULT, message, span) from None
