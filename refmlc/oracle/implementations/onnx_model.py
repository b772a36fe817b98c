"""ONNX Runtime, or else ONNX's reference evaluator, as the framework of a model.

Decision: ONNX Runtime runs the graph as it stands, without its optimisations (`ORT_DISABLE_ALL`), on one thread: the
file says what is computed. It is given the bytes of the model that refmlc has read, so it opens no file.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
import onnx

from refmlc.oracle.implementations.loops.operators import NotTaken
from refmlc.run.memory.tensor import Tensor

Run: TypeAlias = Callable[[Sequence[object]], object]
MISSING = "onnxruntime is not installed: ONNX's reference evaluator is the witness (pip install 'refmlc[onnxruntime]')"
NO_MEMORY = "Failed to allocate memory"
"""How ONNX Runtime says that it has no more."""
FATAL = 4
"""The level at which ONNX Runtime logs: what it refuses, it raises."""


def computing(model: onnx.ModelProto) -> tuple[str, Run, str]:
    """The name of the framework, what computes the outputs for inputs, and a note on the choice."""
    try:
        runtime = import_module("onnxruntime")
    except ImportError:
        return "onnx", _reference_run(model), MISSING
    try:
        return "onnxruntime", _runtime_run(runtime, model), ""
    except NotTaken as refused:
        note = f"ONNX Runtime does not take {refused}; ONNX's reference evaluator is the witness"
        return "onnx", _reference_run(model), note


def _runtime_run(runtime: ModuleType, model: onnx.ModelProto) -> Run:
    """Computes with ONNX Runtime. Fails: `NotTaken`."""
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = FATAL

    def session() -> Any:  # noqa: ANN401 - no types for mypy
        return runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

    started = _refusing(session, "the model")
    return _running(lambda given: started.run(None, given), [each.name for each in started.get_inputs()])


def _reference_run(model: onnx.ModelProto) -> Run:
    """Computes with ONNX's reference evaluator, in NumPy."""
    held = {each.name for each in model.graph.initializer}
    evaluator: Any = import_module("onnx.reference").ReferenceEvaluator

    def run(given: dict[str, object]) -> Any:  # noqa: ANN401 - as above
        with np.errstate(all="ignore"):
            return evaluator(model).run(None, given)

    return _running(run, [each.name for each in model.graph.input if each.name not in held])


def _running(run: Callable[[dict[str, object]], Any], names: Sequence[str]) -> Run:
    """Computes by `run`, which takes inputs by name: the only output, or a tuple."""

    def computed(inputs: Sequence[object]) -> object:
        given = {name: _array(value) for name, value in zip(names, inputs, strict=True)}
        outputs = tuple(_value(each) for each in _refusing(lambda: run(given), "the inputs"))
        return outputs[0] if len(outputs) == 1 else outputs

    return computed


def _array(value: object) -> object:
    """An argument as ONNX takes it: a sequence is a list."""
    match value:
        case Tensor():
            return value.numpy()
        case tuple():
            return [_array(each) for each in value]
        case _:
            return np.asarray(value)


def _value(output: object) -> object:
    """An output as refmlc has it. Fails: `NotTaken`."""
    match output:
        case np.ndarray() | np.generic():
            return Tensor.from_numpy(np.asarray(output, order="C"))
        case list() | tuple():
            return tuple(_value(each) for each in output)
        case _:
            raise NotTaken(f"the inputs: an output is {type(output).__name__}")


def _refusing(work: Callable[[], Any], what: str) -> Any:  # noqa: ANN401 - as above
    """What `work` gives; whatever a framework raises is its refusal of `what`. Fails: `NotTaken`, MemoryError."""
    try:
        return work()
    except MemoryError:
        raise
    except Exception as problem:  # noqa: BLE001 - frameworks have errors of their own
        if NO_MEMORY in str(problem):
            raise MemoryError from None
        raise NotTaken(f"{what}: {' '.join(f'{type(problem).__name__}: {problem}'.split())[:300]}") from None
