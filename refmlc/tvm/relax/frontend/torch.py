"""`tvm.relax.frontend.torch`: the importers of `refmlc.frontends`, loaded when they are named: they need PyTorch."""

from collections.abc import Mapping

from refmlc.lazy import load
from refmlc.tvm.missing_names import missing

HOMES: Mapping[str, str] = {
    "from_exported_program": "refmlc.frontends.torch_export",
    "from_fx": "refmlc.frontends.torch_fx",
}


def __getattr__(name: str) -> object:
    """An importer. Fails: AttributeError for every name that is not here, ImportError without PyTorch."""
    if name not in HOMES:
        raise missing(__name__, name, HOMES)
    value: object = load(f"{HOMES[name]}:{name}")
    return value
