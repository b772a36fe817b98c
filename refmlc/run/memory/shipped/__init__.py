"""Functions that TVM's own runtime ships, and that modules which TVM has lowered call by name. RLX-132.

| file         | holds                                                                                    |
|--------------|------------------------------------------------------------------------------------------|
| `sorting`    | `tvm.contrib.sort.*`                                                                     |
| `sets`       | `relax.run.unique`, `relax.run.nonzero`                                                  |
| `OF_CUDA`    | what a TVM that is built with CUDA registers beside: see `tensor_maps`                   |
| `names.toml` | the other names that TVM 0.27 registers for a CPU: why each has no meaning here          |

The functions of the virtual machine (`vm.builtin.*`) that have a meaning are rows of `refmlc.lang.ops.graph.BUILTINS`.
A function that the user has registered under one of these names is the user's.

`tests/e2e/test_shipped_names.py` compares all of them with the registry of a real TVM.
"""

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from refmlc.run.memory.shipped.sets import nonzero, unique
from refmlc.run.memory.shipped.sorting import argsort, argsort_nms, sort, topk
from refmlc.run.memory.tensor_maps import ENCODE, encode_tiled


def set_device(*_device: object) -> int:
    """All devices are the one that there is (RLX-405)."""
    return 0


FUNCTIONS: Mapping[str, Callable[..., object]] = MappingProxyType(
    {
        "__tvm_set_device": set_device,  # RLX-405
        "relax.run.nonzero": nonzero,  # LIB-970
        "relax.run.unique": unique,  # LIB-971
        "tvm.contrib.sort.sort": sort,  # LIB-950
        "tvm.contrib.sort.argsort": argsort,  # LIB-951
        "tvm.contrib.sort.argsort_nms": argsort_nms,  # LIB-951
        "tvm.contrib.sort.topk": topk,  # LIB-952
    }
)
OF_CUDA: Mapping[str, Callable[..., object]] = MappingProxyType({ENCODE: encode_tiled})  # TIA-040


@cache
def reasons() -> Mapping[str, str]:
    """Why a name that TVM registers has no meaning here, by name."""
    table = tomllib.loads((files(__name__) / "names.toml").read_text(encoding="utf-8"))
    return MappingProxyType({name: part["reason"] for part in table["unsupported"] for name in part["names"]})
