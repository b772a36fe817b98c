"""What only attributes and types hold: reducers, index maps, targets, devices, meshes of devices.

They are read and shown, not interpreted.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from refmlc.lang.ir.node import Node, node

if TYPE_CHECKING:
    from refmlc.lang.ir.tir import Attr, Expr, Var


@node
class CommReducer(Node):
    """A commutative reduction: `lhs`, `rhs` → `result`, starting from `identity` (in attributes of GPU code)."""

    lhs: tuple["Var", ...]
    rhs: tuple["Var", ...]
    result: tuple["Expr", ...]
    identity: tuple["Expr", ...]


@node
class IndexMap(Node):
    """A map of indices: `initial` to `final`, and the inverse where the text gives it."""

    initial: tuple["Var", ...]
    final: tuple["Expr", ...]
    inverse: "IndexMap | None" = None


@node
class Target(Node):
    """A compilation target, as the configuration that the text gives."""

    config: Mapping[str, "Attr"]


@node
class Device(Node):
    """A device of the runtime: `R.device(type, index)`. Units: the type is DLPack's number, 1 the CPU, 2 CUDA."""

    device_type: int
    index: int = 0


@node
class VDevice(Node):
    """A device that tensors may be said to lie on: `I.vdevice(target, index, scope)`, a global info of a module."""

    target: "Attr"
    index: int = 0
    scope: str = "global"


@node
class DeviceMesh(Node):
    """An array of devices by their numbers: `R.device_mesh((2, 2), [0, 1, 2, 3])`, a global info of a module.

    `consecutive`: the text says a range of numbers, `I.Range(0, 4)`, which TVM keeps apart from the list of them.
    """

    shape: tuple[int, ...]
    devices: tuple[int, ...]
    consecutive: bool = False
