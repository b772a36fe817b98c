"""`tvm.relax.frontend.torch`: the importers of `refmlc.frontends`, loaded when they are named: they need PyTorch."""

from collections.abc import Mapping

from refmlc.tvm.missing_names import refusal

PLACES: Mapping[str, str] = {
    "from_exported_program": "refmlc.frontends.torch_export:from_exported_program",
    "from_fx": "refmlc.frontends.torch_fx:from_fx",
}

__getattr__ = refusal(__name__, PLACES, PLACES)
