"""Tensors on meshes of devices in the text: they are read and shown, and one program on one machine executes none.

| text                                                 | meaning                                           |
|------------------------------------------------------|---------------------------------------------------|
| `R.device_mesh((2, 2), I.Range(0, 4))`               | `DeviceMesh`; a list of numbers may stand for the range |
| `"mesh[0]"`                                          | the first mesh that the module lists as `"mesh"`  |
| `"S[0], R"`                                          | a placement                                       |
| `R.DTensor((4, n), "float32", "mesh[0]", "S[0], R")` | `DTensorType`                                     |
| `R.dist.call_tir(f, (x,), out_ty=T)`                 | `call_tir` whose output is on a mesh              |
| `R.dist.const(1.0, T)`                               | operator `dist.const` of a constant, ty_args (T,) |
| `R.dist.redistribute(x, mesh, placement)`            | operator with these attributes; `annotate_sharding` too |

The list of meshes is `I.module_global_infos({"mesh": […]})`. `S[0]` divides axis 0 of the tensor along a dimension of
the mesh, `R` has copies along it.

Decision: `R.DTensor(…)` without a mesh has TVM's default, one device and no dimension.
"""

import math
import re

from refmlc.diag import Span, fail
from refmlc.diag.catalogue import BAD_ARGUMENTS
from refmlc.lang.ir import relax, tir
from refmlc.lang.ir.attrs import DeviceMesh
from refmlc.lang.ir.types import DTensorType, TensorType, placement_text
from refmlc.lang.script.reader.arguments import REQUIRED, CallSite
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.relax_constants import constant_of
from refmlc.lang.script.reader.relax_values import expr_of
from refmlc.lang.script.reader.values import Meta, described

DEVICES = 1 << 20
ALONE = DeviceMesh((), (0,), consecutive=True)
_NAME = re.compile(r"([^\[\]]+)\[(\d{1,9})\]")
_PART = re.compile(r"R|S\[\s*(\d{1,3})\s*\]")


def device_mesh(_ev: Evaluator, site: CallSite) -> Meta:
    """`R.device_mesh((2, 2), I.Range(0, 4))`. Fails: RM105 as many numbers as the shape has devices are wanted."""
    values = site.take(shape=REQUIRED, device_ids=REQUIRED)
    shape, devices = values["shape"], values["device_ids"]
    dims = _whole_numbers(shape)
    if dims is None:
        raise site.wrong("shape", shape, "a list of sizes")
    match devices:
        case tir.Range(min=tir.IntImm(value=first), extent=tir.IntImm(value=count)) if 0 <= count <= DEVICES:
            numbers: tuple[int, ...] | None = tuple(range(first, first + count))
        case _:
            numbers = _whole_numbers(devices)
    if numbers is None:
        raise site.wrong("device_ids", devices, "a list or a range of numbers of devices")
    if math.prod(dims) != len(numbers):
        raise site.misfit(f"names {len(numbers)} devices for a mesh of {math.prod(dims)}")
    return DeviceMesh(dims, numbers, isinstance(devices, tir.Range), span=site.span)


def _whole_numbers(value: Meta) -> tuple[int, ...] | None:
    """The numbers of a list that has no others; None where it is none."""
    if not isinstance(value, (list, tuple)):
        return None
    numbers = tuple(item for item in value if isinstance(item, int) and not isinstance(item, bool) and item >= 0)
    return numbers if len(numbers) == len(value) else None


def mesh_of(ev: Evaluator, value: Meta, span: Span) -> DeviceMesh:
    """The mesh that `value` is, or names in the list of the module. Fails: RM105."""
    if isinstance(value, DeviceMesh):
        return value
    name = _NAME.fullmatch(value) if isinstance(value, str) else None
    if name is None:
        raise fail(BAD_ARGUMENTS, f"{described(value)} is no mesh of devices", span)
    listed = ev.infos.get(name[1], ())
    found = listed[int(name[2])] if int(name[2]) < len(listed) else None
    if isinstance(found, DeviceMesh):
        return found
    raise fail(BAD_ARGUMENTS, f"the module lists no mesh of devices `{name[0]}`", span)


def placement_of(value: Meta, mesh: DeviceMesh, span: Span) -> tuple[int | None, ...]:
    """The placement in a text like `"S[0], R"`. Fails: RM105."""
    parts = [part.strip() for part in value.split(",")] if isinstance(value, str) and value.strip() else []
    read = [_PART.fullmatch(part) for part in parts]
    known = [part for part in read if part is not None]
    if not isinstance(value, str) or len(known) != len(read):
        raise fail(BAD_ARGUMENTS, f"{described(value)} is no placement: it has parts `R` and `S[axis]`", span)
    if len(known) != len(mesh.shape):
        message = f"the placement `{value}` has {len(known)} parts, and the mesh {len(mesh.shape)} dimensions"
        raise fail(BAD_ARGUMENTS, message, span)
    return tuple(None if part[1] is None else int(part[1]) for part in known)


def dtensor(ev: Evaluator, site: CallSite, tensor: TensorType, where: Meta, placement: Meta) -> DTensorType:
    """`R.DTensor(…)` of the tensor that its other arguments say. Fails: RM105."""
    mesh = mesh_of(ev, where, site.place("device_mesh", 2))
    parts = placement_of(placement, mesh, site.place("placement", 3))
    ndim = tensor.ndim if tensor.shape is None else len(tensor.shape)
    for axis in parts:
        if axis is not None and axis >= ndim:
            raise site.misfit(f"divides axis {axis} of a tensor of {max(ndim, 0)}", site.place("placement", 3))
    return DTensorType(tensor, mesh, parts, span=site.span)


def dist_const(_ev: Evaluator, site: CallSite) -> Meta:
    """`R.dist.const(value, R.DTensor(…))`."""
    values = site.take(value=REQUIRED, ty=REQUIRED)
    ty = values["ty"]
    if not isinstance(ty, DTensorType):
        raise site.wrong("ty", ty, "an `R.DTensor`")
    value = constant_of(values["value"], ty.tensor.dtype, site.span)
    return relax.Call(relax.Op("dist.const", span=site.span), (value,), {}, (ty,), span=site.span)


def placed(ev: Evaluator, site: CallSite) -> Meta:
    """`R.dist.annotate_sharding(x, mesh, placement)`, `R.dist.redistribute(…)`."""
    name = site.name.removeprefix("R.")
    values = site.take(value=REQUIRED, device_mesh=REQUIRED, placement=REQUIRED)
    mesh = mesh_of(ev, values["device_mesh"], site.place("device_mesh", 1))
    parts = placement_of(values["placement"], mesh, site.place("placement", 2))
    attrs: dict[str, tir.Attr] = {"device_mesh": mesh, "placement": placement_text(parts)}
    data = (expr_of(values["value"], site.place("value", 0)),)
    return relax.Call(relax.Op(name, span=site.span), data, attrs, span=site.span)
