"""Devices and targets by TVM's names. There is one device here, the CPU, and every target is compiled for it.

Decision: a target that means a CPU (`llvm`, `c`, what a tag of one says) is taken, whatever its attributes: refmlc
chooses its tier by itself, and results do not depend on it. Any other one (`cuda`, …) is refused: RM112.
"""

from dataclasses import dataclass
from typing import Self

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE

CPU_KINDS = ("llvm", "c")


@dataclass(frozen=True)
class Device:
    """Device `index` of a type."""

    device_type: int = 1
    index: int = 0

    def __str__(self) -> str:
        return f"cpu({self.index})"

    def sync(self) -> None:
        """Wait for it: nothing is behind."""

    @property
    def exist(self) -> bool:
        """Whether it is there."""
        return self.index == 0


class Target:
    """A build target: the name of a kind with options, or a dictionary with `kind`."""

    def __init__(self, target: "str | dict[str, object] | Target", host: "str | Target | None" = None) -> None:
        """The target. Fails: RM112 where it is no CPU."""
        text = target.get("kind") if isinstance(target, dict) else target
        self.text = str(text)
        self.host = host
        if self.kind not in CPU_KINDS:
            kinds = ", ".join(CPU_KINDS)
            raise fail(BAD_USAGE, f"the target `{self.kind}` is not a CPU: refmlc executes on the CPU ({kinds})")

    @property
    def kind(self) -> str:
        """The name of the kind: `llvm`."""
        return self.text.split(" ")[0].partition("/")[0]

    def __str__(self) -> str:
        return self.text

    def __enter__(self) -> Self:
        """As the target of a `with`, which changes nothing here."""
        return self

    def __exit__(self, *_: object) -> None:
        """The end of it."""


def cpu(index: int = 0) -> Device:
    """The CPU."""
    return Device(1, index)


def device(name: str = "cpu", index: int = 0) -> Device:
    """A device by its name. Fails: RM112 where it is no CPU."""
    if name not in (*CPU_KINDS, "cpu"):
        raise fail(BAD_USAGE, f"no device `{name}`: refmlc executes on the CPU")
    return Device(1, index)


def checked_target(target: object) -> None:
    """Refuse a target that is no CPU. Fails: RM112."""
    match target:
        case None | Target():
            return
        case str() | dict():
            Target(target)
        case _:
            raise fail(BAD_USAGE, f"a target is a string or a Target; this is {type(target).__name__}")


def checked_device(device: object) -> None:
    """Refuse devices other than the CPU. Fails: RM112."""
    several = device if isinstance(device, tuple | list) else (device,)
    if not all(item is None or isinstance(item, Device) for item in several):
        raise fail(BAD_USAGE, f"a device is tvm.cpu(); this is {device!r}")
