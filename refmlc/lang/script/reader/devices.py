"""Devices in text: the names of those that the module lists, and devices of the runtime.

| text                                  | names                                                     |
|---------------------------------------|-----------------------------------------------------------|
| `"cuda"`, `"cuda:0"`                  | the first device of the list whose target is of this kind |
| `"cuda:1"`, `"cuda:1:shared"`         | the second                                                |
| `"vdevice:2"`                         | the third of the list, of whatever kind                   |
| `R.device(2, 0)`, `R.device("cuda")`  | a device of the runtime, by DLPack's number of its type   |
| `tvm.cpu()`, `tvm.cuda(1)`            | the same by its name                                      |

The list is `I.module_global_infos({"vdevice": […]})`. What is read is kind, place in the list among those of the kind,
and scope of the device, as TVM prints it: `"cuda:1:shared"`. The number in `I.vdevice` does not matter.

Decision: where a text has no list, as a function alone has none, a name stays as it is; TVM refuses it.
"""

from collections.abc import Mapping, Sequence

from refmlc.lang.ir import relax
from refmlc.lang.ir.attrs import Device, Target, VDevice
from refmlc.lang.ir.tir import Attr
from refmlc.lang.script.reader.arguments import REQUIRED, CallSite
from refmlc.lang.script.reader.evaluate import Evaluator
from refmlc.lang.script.reader.relax_values import expr_of
from refmlc.lang.script.reader.values import Meta, described

TYPES: Mapping[str, int] = {
    **dict.fromkeys(("cpu", "llvm", "c"), 1),
    **dict.fromkeys(("cuda", "nvptx"), 2),
    **dict.fromkeys(("cl", "opencl"), 4),
    "vulkan": 7,
    "metal": 8,
    "rocm": 10,
    "webgpu": 15,
    "hexagon": 16,
}
"""DLPack's numbers of types of devices, by the names that TVM gives them."""
NAMED = ("cpu", "cuda", "rocm", "opencl", "metal", "vulkan", "hexagon")
"""The functions `tvm.NAME(number)`."""


def device_name(ev: Evaluator, value: Meta, site: CallSite, what: str) -> str:
    """The device that a text names, as TVM prints it. Fails: RM105."""
    if not isinstance(value, str):
        raise site.wrong(what, value, "a string")
    if ev.devices is None:
        return value
    result = _found(value, ev.devices)
    if result is None:
        raise site.misfit(f"names the device `{value}`, which the module does not list")
    kind = _kind(result.target)
    alike = [item for item in ev.devices if _kind(item.target) == kind]
    place = next(at for at, item in enumerate(alike) if item is result)
    return f"{kind}:{place}:{result.scope}"


def _found(name: str, devices: Sequence[VDevice]) -> VDevice | None:
    kind, _, rest = name.partition(":")
    place = rest.partition(":")[0] or "0"
    number = int(place) if place.isdecimal() else -1
    suiting = [item for item in devices if kind in ("vdevice", _kind(item.target))]
    return suiting[number] if 0 <= number < len(suiting) else None


def _kind(target: Attr) -> str:
    """The kind of a target: the word before its options."""
    config = target.config if isinstance(target, Target) else target
    name = config.get("kind", "") if isinstance(config, Mapping) else config
    return str(name).partition(" ")[0]


def device(_ev: Evaluator, site: CallSite) -> Meta:
    """`R.device(device_type, index)`."""
    values = site.take(device_type=REQUIRED, index=0)
    result = _device(values["device_type"], values["index"])
    if result is None:
        raise site.wrong("device_type", values["device_type"], "a type of devices, by name or number")
    return result


def _device(kind: Meta, index: Meta) -> Device | None:
    if isinstance(kind, str):
        name, _, number = kind.partition(":")
        kind, index = TYPES.get(name), int(number) if number.isdecimal() else index
    plain = not isinstance(kind, bool) and not isinstance(index, bool)
    return Device(kind, index) if plain and isinstance(kind, int) and isinstance(index, int) else None


def named_device(_ev: Evaluator, site: CallSite) -> Meta:
    """`tvm.cpu()`, `tvm.cuda(1)`."""
    index = site.take(dev_id=0)["dev_id"]
    result = _device(TYPES[site.name.removeprefix("tvm.")], index)
    if result is None:
        raise site.wrong("dev_id", index, "a number")
    return result


def to_vdevice(ev: Evaluator, site: CallSite) -> Meta:
    """`R.to_vdevice(x, dst_vdevice="cuda:0")`."""
    values = site.take(data=REQUIRED, dst_vdevice=REQUIRED)
    attrs: dict[str, Attr] = {"dst_vdevice": device_name(ev, values["dst_vdevice"], site, "dst_vdevice")}
    return relax.Call(relax.Op("to_vdevice", span=site.span), _data(values, site), attrs, span=site.span)


def hint_on_device(_ev: Evaluator, site: CallSite) -> Meta:
    """`R.hint_on_device(x, R.device(1, 0), "global")`."""
    values = site.take(data=REQUIRED, dst_vdevice=REQUIRED, memory_scope="global")
    where, scope = values["dst_vdevice"], values["memory_scope"]
    result = _device(where, 0) if isinstance(where, str) else where
    if not isinstance(result, Device):
        raise site.wrong("dst_vdevice", where, "a device")
    if not isinstance(scope, str):
        raise site.misfit(f"takes a memory scope, and not {described(scope)}")
    attrs: dict[str, Attr] = {"dst_vdevice": result, "memory_scope": scope}
    return relax.Call(relax.Op("hint_on_device", span=site.span), _data(values, site), attrs, span=site.span)


def _data(given: Mapping[str, Meta], site: CallSite) -> tuple[relax.Expr, ...]:
    return (expr_of(given["data"], site.place("data", 0)),)
