"""Drawn programs of PyTorch as modules: PyTorch's own result, the exported program, and refmlc's module of it."""

import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

from refmlc.frontends.torch_export import from_exported_program
from refmlc.lang.ir import IRModule
from refmlc.oracle.fuzz.subjects.imports.torch_operators import FUNCTIONS, INTS, TorchCall, TorchProgram, function_of

LONGEST = 4096
"""How many elements a result has at most."""


class DrawnModule(torch.nn.Module):  # type: ignore[misc, unused-ignore]  # PyTorch has no types here
    """The calls of a program, one after the other; the constants are buffers."""

    def __init__(self, program: TorchProgram) -> None:
        super().__init__()
        self.program = program
        for name, array in program.constants.items():
            self.register_buffer(name, torch.from_numpy(array.copy()))

    def forward(self, *arguments: torch.Tensor) -> Any:  # noqa: ANN401 - tensors, one or several
        """The result of the last call."""
        values: dict[str, Any] = dict(zip(self.program.arguments, arguments, strict=True))
        values |= {name: getattr(self, name) for name in self.program.constants}
        result: Any = None
        for number, call in enumerate(self.program.calls):
            result = called(call, [values[name] for name in call.inputs])
            values[f"y{number}"] = result
        return result


def called(call: TorchCall, tensors: list[Any]) -> Any:  # noqa: ANN401 - as above
    """The result of a call, or that of its results which is compared."""
    name, row = function_of(call.function), FUNCTIONS[call.function]
    places = len(tensors) - len(row.named)
    named = dict(zip(row.named, tensors[places:], strict=True))
    home = torch.nn.functional if name.startswith("F.") else torch
    result = getattr(home, name.removeprefix("F."))(*tensors[:places], **named, **_options(call))
    return result if row.takes is None or isinstance(result, torch.Tensor) else result[row.takes]


def _options(call: TorchCall) -> dict[str, Any]:
    """The options as PyTorch takes them: dtypes by their names."""
    return {key: getattr(torch, str(value)) if key == "dtype" else value for key, value in call.options.items()}


def evaluated(program: TorchProgram) -> list[np.ndarray]:
    """What PyTorch computes. Raises whatever PyTorch raises.

    Raises TypeError for what is no small tensor, ValueError for a number that the integers of a call's `dtype` lack.
    """
    for number, call in enumerate(program.calls):
        if str(call.options.get("dtype")) in INTS:
            before = evaluated(replace(program, calls=program.calls[:number])) if number else []
            values = {**program.constants, **program.arguments, **{f"y{number - 1}": each for each in before}}
            _check_cast(values[call.inputs[0]], str(call.options["dtype"]))
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        leaves = pytree.tree_leaves(DrawnModule(program)(*_tensors(program)))
    if not all(isinstance(leaf, torch.Tensor) and leaf.numel() <= LONGEST for leaf in leaves):
        raise TypeError("a result is no small tensor")
    return [leaf.resolve_neg().contiguous().numpy().copy() for leaf in leaves]


def _check_cast(array: np.ndarray, dtype: str) -> None:
    """What a cast of other numbers gives is left open (NUM-702)."""
    limits = np.iinfo(dtype)
    if array.dtype.kind == "f" and not np.all((array > float(limits.min) - 1) & (array < float(limits.max) + 1)):
        raise ValueError(f"an element has no value in {dtype}")


def values_of(program: TorchProgram) -> dict[str, np.ndarray]:
    """The arguments, and the result of each call but the last, by name."""
    values = dict(program.arguments)
    for number in range(1, len(program.calls)):
        (values[f"y{number - 1}"],) = evaluated(replace(program, calls=program.calls[:number]))
    return values


def _tensors(program: TorchProgram) -> tuple[torch.Tensor, ...]:
    return tuple(torch.from_numpy(array.copy()) for array in program.arguments.values())


def exports(program: TorchProgram) -> bool:
    """Whether PyTorch exports the program with the shapes that it computes. Raises whatever PyTorch raises."""
    graph = exported(program).graph
    leaves = pytree.tree_leaves(next(iter(graph.find_nodes(op="output"))).args)
    declared = [tuple(map(int, leaf.meta["val"].shape)) for leaf in leaves if isinstance(leaf, torch.fx.Node)]
    return declared == [array.shape for array in evaluated(program)]


def exported(program: TorchProgram) -> torch.export.ExportedProgram:
    """The program as `torch.export` has it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.export.export(DrawnModule(program), _tensors(program))


@cache
def quiet() -> None:
    """One thread, as a worker has, and no warnings on its streams."""
    torch.set_num_threads(1)


def written(program: TorchProgram, path: Path) -> None:
    """Write the exported program to a file."""
    torch.export.save(exported(program), path)


def imported(program: TorchProgram) -> IRModule:
    """The module that refmlc imports. Fails: RM501."""
    return from_exported_program(exported(program), unwrap_unit_return_tuple=True)
