"""Devices and targets by TVM's names. Everything is compiled for one device, the CPU, and executed there.

Decision: a target says for what a schedule is made, never what a result is. One that means a CPU (`llvm`, `c`) is taken
whatever its attributes. One of another kind that TVM has (`cuda`, `metal`, a tag as `nvidia/…`) is taken too: a program
whose loops are bound to threads is executed thread by thread and checked, on the CPU, so its results are right and its
times are not those of the device; one warning says so. A name that is no kind of TVM is refused: RM112.
"""

import warnings
from dataclasses import dataclass
from typing import Self

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE

CPU_KINDS = ("llvm", "c")
OTHER_KINDS = {"cuda": 2, "opencl": 4, "vulkan": 7, "metal": 8, "rocm": 10, "webgpu": 15}
TAGS = {"nvidia": "cuda", "apple": "metal", "amd": "rocm"}
"""The kind that a tag means, by the part before its slash, where that is no CPU."""
NAMES = {1: "cpu", **{number: name for name, number in OTHER_KINDS.items()}}


def elsewhere(name: str) -> None:
    """Warn once that a program for another device is executed on the CPU."""
    message = f"`{name}` is executed on the CPU: results are checked, times are those of the CPU"
    warnings.warn(message, stacklevel=3)


@dataclass(frozen=True)
class Device:
    """Device `index` of a type."""

    device_type: int = 1
    index: int = 0

    def __str__(self) -> str:
        return f"{NAMES[self.device_type]}({self.index})"

    @classmethod
    def named(cls, text: str) -> "Device":
        """The device of a name, `cuda` or `cuda:1`. Fails: RM112."""
        name, _, index = text.partition(":")
        return device(name, int(index) if index.isdecimal() else 0)

    def sync(self) -> None:
        """Wait for it: nothing is behind."""

    @property
    def exist(self) -> bool:
        """Whether it is there: the CPU alone is."""
        return self.device_type == 1 and self.index == 0


class TargetKind(str):
    """The name of a kind, which has it as `name` too."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name."""
        return str(self)


class Target:
    """A build target: the name of a kind with options, or a dictionary with `kind`."""

    def __init__(self, target: "str | dict[str, object] | Target", host: "str | Target | None" = None) -> None:
        """The target. Fails: RM112 where its kind is none of TVM's."""
        text = target.get("kind", target.get("tag")) if isinstance(target, dict) else target
        self.text = str(text)
        self.host = host
        if self.kind in OTHER_KINDS:
            elsewhere(self.kind)
        elif self.kind not in CPU_KINDS:
            kinds = ", ".join((*CPU_KINDS, *OTHER_KINDS))
            raise fail(BAD_USAGE, f"there is no target `{self.kind}`: the kinds are {kinds}")

    @classmethod
    def from_device(cls, device: "Device | str") -> "Target":
        """The target for a device; that of a GPU is its kind with the defaults of TVM. Fails: RM112."""
        device = Device.named(device) if isinstance(device, str) else device
        name = NAMES[device.device_type]
        return cls("llvm" if name == "cpu" else name)

    @property
    def kind(self) -> "TargetKind":
        """The name of the kind: `llvm`."""
        first, slash, _ = self.text.partition(" ")[0].partition("/")
        return TargetKind(TAGS.get(first, first) if slash else first)

    @property
    def keys(self) -> list[str]:
        """What it is: `["cuda", "gpu"]`."""
        return [str(self.kind), "gpu"] if self.threads else ["cpu"]

    @property
    def max_num_threads(self) -> int:
        """The threads of a block of threads, as TVM has them by default."""
        return 1024 if self.kind == "cuda" else 256

    @property
    def attrs(self) -> dict[str, int]:
        """What is known of a GPU of this kind."""
        return {"max_num_threads": self.max_num_threads} if self.threads else {}

    @property
    def threads(self) -> bool:
        """Whether programs for it bind loops to threads."""
        return self.kind in OTHER_KINDS

    @classmethod
    def current(cls, allow_none: bool = True) -> "Target | None":
        """The target of the innermost `with`. Fails: RM112 where there is none, unless `allow_none`."""
        if _CURRENT:
            return _CURRENT[-1]
        if not allow_none:
            raise fail(BAD_USAGE, "no target is current", None, "write `with tvm.target.Target(…):` around it")
        return None

    def __str__(self) -> str:
        return self.text

    def __enter__(self) -> Self:
        """As the target of a `with`."""
        _CURRENT.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        """The end of it."""
        _CURRENT.pop()


_CURRENT: list[Target] = []
"""The targets of the `with` that are open, outermost first."""


def cpu(index: int = 0) -> Device:
    """The CPU."""
    return Device(1, index)


def device(name: str = "cpu", index: int = 0) -> Device:
    """A device by its name, which stands for the CPU. Fails: RM112 where it is no device of TVM."""
    if name in OTHER_KINDS:
        return Device(OTHER_KINDS[name], index)
    if name not in (*CPU_KINDS, "cpu"):
        raise fail(BAD_USAGE, f"no device `{name}`: refmlc has cpu, {', '.join(OTHER_KINDS)}")
    return Device(1, index)


def cuda(index: int = 0) -> Device:
    """What stands for a GPU of NVIDIA."""
    return device("cuda", index)


def metal(index: int = 0) -> Device:
    """What stands for a GPU of Apple."""
    return device("metal", index)


def checked_target(target: object) -> None:
    """Refuse what is no target. Fails: RM112."""
    match target:
        case None | Target():
            return
        case str() | dict():
            Target(target)
        case _:
            raise fail(BAD_USAGE, f"a target is a string or a Target; this is {type(target).__name__}")


def checked_device(device: object) -> None:
    """Refuse what is no device; warn of one that is not the CPU. Fails: RM112."""
    several = device if isinstance(device, tuple | list) else (device,)
    if not all(item is None or isinstance(item, Device) for item in several):
        raise fail(BAD_USAGE, f"a device is tvm.cpu(); this is {device!r}")
    for item in several:
        if isinstance(item, Device) and item.device_type != 1:
            elsewhere(NAMES[item.device_type])
