"""`tvm.relax.frontend.torch`: the importers of `refmlc.frontends`, loaded when they are called: they need PyTorch.

Weights that are kept as inputs are also an attribute of `main`, as in TVM: `relax.frontend.detach_params` takes it out.
"""

from collections.abc import Mapping
from typing import cast

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import IRModule
from refmlc.lazy import load
from refmlc.tvm.missing_names import refusal
from refmlc.tvm.relax.frontend.parameters import with_params

PLACES: Mapping[str, str] = {"from_fx": "refmlc.frontends.torch_fx:from_fx"}


def from_exported_program(
    exported_program: object,
    *,
    keep_params_as_input: bool = False,
    unwrap_unit_return_tuple: bool = False,
    no_bind_return_tuple: bool = False,
    custom_convert_map: Mapping[str, object] | None = None,
    run_ep_decomposition: bool | None = None,
) -> IRModule:
    """As `refmlc.frontends.from_exported_program`. Fails: RM504 for custom rules."""
    if custom_convert_map:
        raise fail(UNSUPPORTED_CONSTRUCT, "`from_exported_program(custom_convert_map=…)` is not supported")
    module = cast(
        "IRModule",
        load("refmlc.frontends.torch_export:from_exported_program")(
            exported_program,
            keep_params_as_input=keep_params_as_input,
            unwrap_unit_return_tuple=unwrap_unit_return_tuple,
            no_bind_return_tuple=no_bind_return_tuple,
            run_ep_decomposition=run_ep_decomposition,
        ),
    )
    values = load("refmlc.frontends.torch_export:params_of")(exported_program) if keep_params_as_input else {}
    return with_params(module, values) if values else module


__all__ = ["from_exported_program"]

__getattr__ = refusal(__name__, (*__all__, *PLACES), PLACES)
