"""The arguments of a call: `--input NAME=VALUE`, `--params FILE`, `--dim NAME=SIZE`.

VALUE is a file (`x.npy`), a generator (`zeros`, `ones`, `iota`, `normal(SEED)`), or a number for a scalar parameter.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from refmlc.diag.catalogue import BAD_FILE, BAD_INPUT, BAD_USAGE
from refmlc.diag.errors import fail
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.ir.types import PrimType, TensorType
from refmlc.lang.ir.visit import walk
from refmlc.run.memory.files import as_declared, generate, is_generator, read_array, read_arrays
from refmlc.run.memory.tensor import Tensor

LONGEST_SHOWN = 40


@dataclass(slots=True)
class Inputs:
    """The arguments in order, and those among them that are outputs (by name)."""

    values: list[object] = field(default_factory=list)
    outputs: dict[str, Tensor] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Parameter:
    """The requirements of a parameter. `dtype` None or `shape` None: any."""

    name: str
    dtype: DType | None
    shape: tuple[tir.Expr, ...] | None
    destination: bool
    scalar: bool = False


def gather(module: IRModule, func: str, inputs: tuple[str, ...], dims: tuple[str, ...], params: Path | None) -> Inputs:
    """The arguments of `func`. Fails: RM111 for inputs that do not fit, RM112 for options that do not."""
    if func not in module.functions:
        functions = ", ".join(module.functions) or "none"
        raise fail(BAD_USAGE, f"the module has no function `{func}`", None, f"its functions: {functions}")
    texts: dict[str, str] = dict(_pair(text, "--input") for text in inputs)
    sizes = sizes_of(dims)
    loaded: dict[str, NDArray[np.generic]] = dict(read_arrays(params)) if params else {}
    parameters = _parameters(module, func)
    names = [parameter.name for parameter in parameters]
    for name in texts:
        if name not in names:
            raise fail(BAD_INPUT, f"`{func}` has no parameter `{name}`", None, f"its parameters: {', '.join(names)}")
    _check_dims(func, sizes, parameters)
    for name, text in texts.items():
        if not is_generator(text) and not is_number(text):
            loaded[name] = _read(Path(text))
    for parameter in parameters:
        if parameter.name in loaded and parameter.shape is not None:
            _learn(parameter.shape, loaded[parameter.name].shape, sizes)
    result = Inputs()
    for parameter in parameters:
        _add(result, func, parameter, loaded.get(parameter.name), texts.get(parameter.name), sizes)
    return result


def _check_dims(func: str, sizes: Mapping[str, int], parameters: list[Parameter]) -> None:
    """Check that each size belongs to a symbolic dimension. Fails: RM112."""
    extents = [extent for parameter in parameters for extent in parameter.shape or ()]
    names = {node.name: None for extent in extents for node in walk(extent) if isinstance(node, tir.Var)}
    for name in sizes:
        if name not in names:
            note = f"it has {', '.join(names)}" if names else "it has none"
            raise fail(BAD_USAGE, f"`{func}` has no symbolic dimension `{name}`", None, note)


def _read(path: Path) -> NDArray[np.generic]:
    """The array in a file; the message for a missing file lists the other forms. Fails: RM109, and as `read_array`."""
    if not path.exists():
        forms = "in place of a file: a number, zeros, ones, iota, or normal(SEED) with a natural number"
        raise fail(BAD_FILE, f"{path}: No such file or directory", None, forms)
    return read_array(path)


def _add(
    result: Inputs,
    func: str,
    parameter: Parameter,
    array: NDArray[np.generic] | None,
    text: str | None,
    sizes: Mapping[str, int],
) -> None:
    """Append the argument for one parameter."""
    if array is not None:
        result.values.append(as_declared(array, parameter.dtype))
    elif text is not None and is_generator(text):
        value = generate(text, _shape(parameter, sizes), _dtype(parameter))
        result.values.append(value.cells[0] if parameter.scalar else value)
    elif text is not None:
        result.values.append(_number(func, parameter, text))
    elif parameter.destination:
        tensor = Tensor.empty(_shape(parameter, sizes), _dtype(parameter), origin=f"output `{parameter.name}`")
        result.outputs[parameter.name] = tensor
        result.values.append(tensor)
    else:
        raise fail(BAD_INPUT, f"`{func}` needs an input for `{parameter.name}`", None, "give `--input` or `--params`")


def _parameters(module: IRModule, func: str) -> list[Parameter]:
    """The parameters of a function."""
    function = module.functions[func]
    if isinstance(function, tir.PrimFunc):
        result = []
        for var in function.params:
            buffer = function.buffer_map.get(var)
            if buffer is None:
                result.append(Parameter(var.name, var.dtype, (), destination=False, scalar=True))
            else:
                result.append(Parameter(buffer.name, buffer.dtype, buffer.shape, destination=True))
        return result
    if isinstance(function, relax.Function):
        return [_relax_parameter(var) for var in function.params]
    raise fail(BAD_USAGE, f"`{func}` is an extern function: it has no body to run")


def _relax_parameter(var: relax.Var) -> Parameter:
    """A parameter of a Relax function."""
    match var.ty:
        case TensorType(shape=shape, dtype=dtype):
            return Parameter(var.name, dtype, shape, destination=False)
        case PrimType(dtype=dtype):
            return Parameter(var.name, dtype, (), destination=False, scalar=True)
        case _:
            return Parameter(var.name, None, None, destination=False)


def _learn(shape: tuple[tir.Expr, ...], actual: tuple[int, ...], sizes: dict[str, int]) -> None:
    """Take the sizes of symbolic dimensions from an array; the run reports contradictions."""
    for extent, size in zip(shape, actual, strict=False):
        if isinstance(extent, tir.Var):
            sizes.setdefault(extent.name, size)


def _shape(parameter: Parameter, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The shape of a generated argument. Fails: RM111 where a size is not known."""
    if parameter.shape is None:
        raise fail(BAD_INPUT, f"the shape of `{parameter.name}` is not declared: give a file")
    result = []
    for extent in parameter.shape:
        match extent:
            case tir.IntImm(value=value):
                result.append(value)
            case tir.Var(name=name) if name in sizes:
                result.append(sizes[name])
            case tir.Var(name=name):
                raise fail(BAD_INPUT, f"the size of `{name}` in `{parameter.name}` is not known: give `--dim {name}=…`")
            case _:
                raise fail(BAD_INPUT, f"a size of `{parameter.name}` is an expression: give a file")
    return tuple(result)


def _dtype(parameter: Parameter) -> DType:
    """The dtype of a generated argument. Fails: RM111 where it is not declared."""
    if parameter.dtype is None:
        raise fail(BAD_INPUT, f"the dtype of `{parameter.name}` is not declared: give a file")
    return parameter.dtype


def _pair(text: str, option: str) -> tuple[str, str]:
    """Split `NAME=VALUE` into name and value. Fails: RM112."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise fail(BAD_USAGE, f"`{option} {text}` is not NAME=VALUE")
    return name, value


def named_values(inputs: tuple[str, ...]) -> dict[str, object]:
    """The values of `--input NAME=VALUE`: names of generators, numbers, arrays. Fails: RM109, RM112."""
    return {name: _value(text) for name, text in (_pair(text, "--input") for text in inputs)}


def _value(text: str) -> object:
    if is_generator(text):
        return text
    if not is_number(text):
        return _read(Path(text))
    try:
        return int(text)
    except ValueError:
        return float(text)


def sizes_of(dims: tuple[str, ...]) -> dict[str, int]:
    """The sizes of dimensions that `--dim NAME=SIZE` gives. Fails: RM112."""
    return {name: _size(name, size) for name, size in (_pair(text, "--dim") for text in dims)}


def _size(name: str, text: str) -> int:
    """A size of a dimension. Fails: RM112."""
    if not text.isascii() or not text.isdigit():
        raise fail(BAD_USAGE, f"`--dim {name}={text}`: the size is not a natural number")
    return int(text)


def _number(func: str, parameter: Parameter, text: str) -> int | float:
    """The number for a parameter. Fails: RM111 if an integer is required."""
    if parameter.dtype is not None and parameter.dtype.is_float:
        return float(text)
    try:
        return int(text)
    except ValueError:
        expected = "a tensor" if not parameter.scalar else str(parameter.dtype)
        shown_text = f"`{text}`" if len(text) <= LONGEST_SHOWN else f"a text of {len(text)} characters"
        raise fail(BAD_INPUT, f"`{parameter.name}` of `{func}` is {expected}, not {shown_text}") from None


def is_number(text: str) -> bool:
    """True if the text is a number, not a file name."""
    try:
        float(text)
    except ValueError:
        return False
    return True
