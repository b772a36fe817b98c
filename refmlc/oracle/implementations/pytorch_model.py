"""PyTorch as the framework of an exported program: `ExportedProgram.module()`."""

from collections.abc import Callable, Sequence

import torch
from torch.utils import _pytree as pytree

from refmlc.oracle.implementations.loops.memory import of_tensor, to_tensor
from refmlc.oracle.implementations.loops.operators import NotTaken
from refmlc.oracle.implementations.pytorch import from_torch, to_torch
from refmlc.run.memory.tensor import Tensor

REFUSALS = (RuntimeError, AssertionError, TypeError, ValueError, IndexError, NotImplementedError)


def computing(program: torch.export.ExportedProgram) -> Callable[[Sequence[object]], object]:
    """Computes what an exported program computes: the result for its inputs, in their order.

    A result of one tensor is that tensor. Fails: `NotTaken` for inputs that PyTorch refuses.
    """
    module = program.module()

    def run(inputs: Sequence[object]) -> object:
        flat = [to_torch(of_tensor(each)) if isinstance(each, Tensor) else each for each in inputs]
        args, named = pytree.tree_unflatten(flat, program.call_spec.in_spec)
        try:
            with torch.no_grad():
                outputs = pytree.tree_leaves(module(*args, **named))
        except REFUSALS as problem:
            words = " ".join(f"{type(problem).__name__}: {problem}".split())
            raise NotTaken(f"the inputs: {words[:300]}") from None
        results = tuple(_value(each) for each in outputs)
        return results[0] if len(results) == 1 else results

    return run


def _value(output: object) -> object:
    return to_tensor(from_torch(output)) if isinstance(output, torch.Tensor) else output
