"""`tvm.relax.frontend.onnx`: the importer of `refmlc.frontends`, loaded when it is called: it needs onnx."""

from collections.abc import Mapping, Sequence
from typing import cast

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lang.ir import IRModule
from refmlc.lazy import load
from refmlc.tvm.missing_names import refusal
from refmlc.tvm.relax.frontend.parameters import with_params


def from_onnx(
    model: object,
    shape_dict: Mapping[str, Sequence[int]] | None = None,
    dtype_dict: object = "float32",
    opset: int | None = None,
    keep_params_in_input: bool = False,
    sanitize_input_names: bool = True,
) -> IRModule:
    """As `refmlc.frontends.from_onnx`; dtypes, version and names are the model's. Fails: RM105 for other options."""
    if dtype_dict != "float32" or opset is not None or not sanitize_input_names:
        raise fail(BAD_ARGUMENTS, "`from_onnx` takes dtypes, version and names from the model, not as options")
    options: dict[str, object] = {"shape_dict": shape_dict} if shape_dict else {}
    importer = load("refmlc.frontends.onnx:from_onnx")
    module = cast("IRModule", importer(model, keep_params_in_input=keep_params_in_input, **options))
    values = load("refmlc.frontends.onnx:params_of")(model) if keep_params_in_input else {}
    return with_params(module, values) if values else module


__all__ = ["from_onnx"]

__getattr__ = refusal(__name__, __all__)
