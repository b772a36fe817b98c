"""A call of PyTorch as text, `torch.add(x, y, alpha=2)`, as a module of PyTorch. Run in both environments.

`x`, `y`, `z` are its inputs; anything else is a literal or a name of `torch`. Nothing is evaluated. Of several tensors
that a call gives it is one: `torch.topk(x, 2)[0]`.
"""

import ast

import torch

INPUTS = ("x", "y", "z")


class TorchCall(torch.nn.Module):
    """The module that calls the function on its inputs."""

    def __init__(self, text: str) -> None:
        super().__init__()
        call = ast.parse(text.strip(), mode="eval").body
        self.place: int | None = None
        if isinstance(call, ast.Subscript):
            self.place, call = ast.literal_eval(call.slice), call.value
        assert isinstance(call, ast.Call)
        self.function = named(call.func)
        self.operands = [*call.args]
        self.options = {str(option.arg): option.value for option in call.keywords}

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        options = {name: value_of(node, inputs) for name, node in self.options.items()}
        found = self.function(*(value_of(node, inputs) for node in self.operands), **options)
        return found if self.place is None else found[self.place]


def named(node: ast.expr) -> object:
    """What a dotted name of PyTorch means: `torch.nn.functional.elu`."""
    if isinstance(node, ast.Attribute):
        return getattr(named(node.value), node.attr)
    assert isinstance(node, ast.Name)
    assert node.id == "torch"
    return torch


def value_of(node: ast.expr, inputs: tuple[torch.Tensor, ...]) -> object:
    """An operand: an input, a name of PyTorch, or a literal."""
    if isinstance(node, ast.Name):
        return inputs[INPUTS.index(node.id)]
    return named(node) if isinstance(node, ast.Attribute) else ast.literal_eval(node)


def exported(text: str, tensors: list[torch.Tensor]) -> torch.export.ExportedProgram:
    """The call as a program of `torch.export`."""
    return torch.export.export(TorchCall(text), tuple(tensors))
