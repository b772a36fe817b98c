"""A program with TVM and PyTorch alone that imports a module of PyTorch, and prints both results.

Tensors have names of their own in it (`x0`, `c0`): those of a file reach no text of Python.
"""

from collections.abc import Iterator, Mapping

from refmlc.oracle.fuzz.subjects.imports.answer_difference import TOLERANCE
from refmlc.oracle.fuzz.subjects.imports.torch_operators import FUNCTIONS, TorchCall, TorchProgram, function_of
from refmlc.oracle.issue.model_script import HEAD, array_text, input_lines, note

IMPORTS = """import numpy as np
import torch
import torch.nn.functional as F
import tvm
from numpy import inf, nan
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program
"""


def torch_text(program: TorchProgram) -> str:
    """The module as a class of Python."""
    return "\n".join(_lines(program))


def torch_script(program: TorchProgram, message: str) -> str:
    """The program. `message`: what is wrong, which it has as a comment."""
    names = _names(program)
    exported = "torch.export.export(Model(), tuple(map(torch.from_numpy, inputs.values())))"
    return HEAD.format(
        imports=IMPORTS,
        model=f"{torch_text(program)}\n\n",
        inputs=input_lines({names[name]: array for name, array in program.arguments.items()}),
        tolerance=TOLERANCE,
        note=note(message),
        expected="arrays(Model()(*map(torch.from_numpy, inputs.values())))",
        framework="PyTorch {torch.__version__}",
        imported=f"from_exported_program({exported}, unwrap_unit_return_tuple=True)",
    )


def _names(program: TorchProgram) -> Mapping[str, str]:
    """The names in the text by those in the program."""
    arguments = {name: f"x{number}" for number, name in enumerate(program.arguments)}
    constants = {name: f"self.c{number}" for number, name in enumerate(program.constants)}
    return {**arguments, **constants, **{f"y{number}": f"y{number}" for number in range(len(program.calls))}}


def _lines(program: TorchProgram) -> Iterator[str]:
    names = _names(program)
    yield "class Model(torch.nn.Module):"
    if program.constants:
        yield "    def __init__(self):"
        yield "        super().__init__()"
        for name, array in program.constants.items():
            buffer = names[name].removeprefix("self.")
            yield f'        self.register_buffer("{buffer}", torch.from_numpy({array_text(array)}))'
        yield ""
    yield f"    def forward(self, {', '.join(names[name] for name in program.arguments)}):"
    for number, call in enumerate(program.calls):
        yield f"        y{number} = {_call(call, names)}"
        if FUNCTIONS[call.function].takes is not None:
            taken = FUNCTIONS[call.function].takes
            yield f"        y{number} = y{number} if isinstance(y{number}, torch.Tensor) else y{number}[{taken}]"
    yield f"        return y{len(program.calls) - 1}"


def _call(call: TorchCall, names: Mapping[str, str]) -> str:
    """The call as PyTorch has it: `torch_modules.called`."""
    name, row = function_of(call.function), FUNCTIONS[call.function]
    tensors = [names[each] for each in call.inputs]
    places = len(tensors) - len(row.named)
    named = [f"{key}={value}" for key, value in zip(row.named, tensors[places:], strict=True)]
    options = [f"{key}={_option(key, value)}" for key, value in call.options.items()]
    home = name if name.startswith("F.") else f"torch.{name}"
    return f"{home}({', '.join([*tensors[:places], *named, *options])})"


def _option(key: str, value: object) -> str:
    return f"torch.{value}" if key == "dtype" and str(value).isidentifier() else repr(value)
