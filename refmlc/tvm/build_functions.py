"""`tvm.build`, `tvm.compile`, `relax.build`, `relax.vm.build`: a module becomes an executable.

| name             | generation | gives                                                             |
|------------------|------------|-------------------------------------------------------------------|
| `tvm.build`      | all        | an executable whose functions are called as `built["f"](a, b, c)` |
| `tvm.compile`    | 0.20 on    | the same                                                          |
| `relax.build`    | 2023 on    | the same                                                          |
| `relax.vm.build` | 2022       | the same                                                          |

Decision (measured: what TVM of 2022 did, and 0.27 does): a variable of a dataflow block that is used after it, though
`R.output` does not name it, is treated as if it were named, with one warning: TVM's pipeline makes all variables
ordinary ones. TVM's own `well_formed` and `refmlc.build` refuse such a module (RM204). Clause RLX-124.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import UNSUPPORTED_CONSTRUCT
from refmlc.lang.ir import IRModule, relax, tir
from refmlc.lang.wellformed.escapes import let_out
from refmlc.lazy import load
from refmlc.tvm.devices import checked_device, checked_target
from refmlc.tvm.library_file import read_library, write_library
from refmlc.vm import Executable as Compiled, VirtualMachine as Machine, VMFunction, build as build_module


@dataclass(frozen=True)
class Times:
    """What `time_evaluator` measured: the mean of each repetition. Units: seconds."""

    results: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean."""
        return float(np.mean(self.results))

    @property
    def median(self) -> float:
        """The median."""
        return float(np.median(self.results))

    @property
    def min(self) -> float:
        """The least."""
        return min(self.results)

    @property
    def max(self) -> float:
        """The greatest."""
        return max(self.results)

    @property
    def std(self) -> float:
        """The standard deviation."""
        return float(np.std(self.results))


LONG = 2.0
"""Seconds after which a repetition makes no further call."""


def timed(function: Callable[..., object], number: int, repeat: int) -> Callable[..., Times]:
    """A function that measures calls of `function`: `repeat` times the mean of `number` calls, after one before.

    Decision: a repetition that has taken `LONG` makes no further call; its mean is over those that were made. Where the
    call before takes as long, it is the only one. A program for a GPU, on the CPU, would else be called for minutes.
    """

    def measured(*args: object) -> Times:
        first = _mean(lambda: function(*args), 1)
        if first > LONG:
            return Times((first,))
        return Times(tuple(_mean(lambda: function(*args), number) for _ in range(repeat)))

    return measured


def _mean(call: Callable[[], object], number: int) -> float:
    start, passed, calls = perf_counter(), 0.0, 0
    while calls < number and passed <= LONG:
        call()
        calls += 1
        passed = perf_counter() - start
    return passed / calls


@dataclass(frozen=True)
class Source:
    """What stands in the place of a module of a GPU."""

    module: IRModule

    def get_source(self, fmt: str = "") -> str:
        """TVMScript with a line that says that it is not the code of a GPU: none is generated. Fails: RM504 (`fmt`)."""
        _no_format("get_source", fmt)
        return (
            f"# refmlc generates no code for this device; this is the program that it executes\n{self.module.script()}"
        )


class Executable:
    """A built module. Its functions are called by their names; `entry_func` is the only one, or `main`."""

    def __init__(self, compiled: Compiled) -> None:
        """The executable of a module that was compiled."""
        self.compiled = compiled
        self._machine = Machine(compiled)

    @property
    def mod(self) -> "Executable":
        """Itself, as TVM's executables have their runtime module."""
        return self

    def jit(self, *_: object, **__: object) -> "Executable":
        """Itself: it is ready."""
        return self

    def __getitem__(self, name: str) -> "VMFunction | Callable[[], str]":
        """A function; `stats`, where the module has none of that name. Fails: RM112 where there is none."""
        if name == "stats" and name not in self.compiled.module.functions:
            return self.stats
        return self._machine[name]

    get_function = __getitem__

    def stats(self) -> str:
        """The functions, by language."""
        functions = self.compiled.module.functions.items()
        return "\n".join(f"{type(func).__name__} {name}" for name, func in functions)

    @property
    def imported_modules(self) -> list["Source"]:
        """The modules of other devices, as TVM's executables have them: here one, the text of the program."""
        return [Source(self.compiled.module)]

    @property
    def entry_func(self) -> VMFunction:
        """The function that a call of the executable calls."""
        names = list(self.compiled.module.functions)
        return self._machine[names[0] if len(names) == 1 else "main"]

    def __call__(self, *args: object) -> object:
        """Call the entry function, as TVM does."""
        return self.entry_func(*args)

    def time_evaluator(
        self, func_name: str, dev: object = None, number: int = 10, repeat: int = 1, **_: object
    ) -> Callable[..., Times]:
        """A function that measures calls of one of its functions."""
        checked_device(dev)
        return timed(self[func_name], number, repeat)

    def export_library(self, file_name: str | Path, **_: object) -> None:
        """Write a file that `runtime.load_module` reads: the text of the module (`library_file`). Fails: RM109."""
        write_library(Path(file_name), self.compiled.module)


class VirtualMachine:
    """Runs an executable: `VirtualMachine(built, tvm.cpu())["main"](x)`."""

    def __init__(self, rt_mod: Executable | Compiled, device: object = None, memory_cfg: object = None) -> None:
        """The machine. Fails: RM112 where the device is no CPU."""
        del memory_cfg
        checked_device(device)
        self._machine = Machine(rt_mod.compiled if isinstance(rt_mod, Executable) else rt_mod)

    @property
    def module(self) -> "VirtualMachine":
        """Itself, as TVM's machines have their runtime module."""
        return self

    def __getitem__(self, name: str) -> VMFunction:
        """A function. Fails: RM112 where there is none."""
        return self._machine[name]

    def time_evaluator(
        self, func_name: str, dev: object = None, number: int = 10, repeat: int = 1, **_: object
    ) -> Callable[..., Times]:
        """A function that measures calls of one of its functions."""
        checked_device(dev)
        return timed(self[func_name], number, repeat)


def build(
    mod: "IRModule | tir.PrimFunc | relax.Function",
    target: object = None,
    *_: object,
    relax_pipeline: "str | Callable[[IRModule], IRModule] | None" = None,
    **__: object,
) -> Executable:
    """The executable of a module, or of one function, after the passes of a pipeline.

    Variables that leave their dataflow block are let out, with a warning.

    Fails: RM2xx; RM112 where the target is none of TVM's; as the pipeline does.
    """
    checked_target(target)
    if isinstance(mod, tir.PrimFunc | relax.Function):
        mod = IRModule({"main": mod})
    if relax_pipeline is not None and relax_pipeline != "default":
        get_pipeline = load("refmlc.tvm.relax.pipeline:get_pipeline")
        mod = (get_pipeline(relax_pipeline) if isinstance(relax_pipeline, str) else relax_pipeline)(mod)
    return Executable(build_module(let_out(mod)))  # what is built is as it is now


def load_module(path: str | Path, fmt: str = "") -> Executable:
    """The executable of a file that `export_library` of refmlc wrote. Fails: RM109 for another file, RM504 (`fmt`)."""
    _no_format("load_module", fmt)
    return build(read_library(Path(path)))


def _no_format(function: str, fmt: str) -> None:
    """Fails: RM504 for the name of a format: each names machine code, and refmlc has text alone."""
    if fmt:
        raise fail(UNSUPPORTED_CONSTRUCT, f"`{function}` has TVMScript alone here: `fmt={fmt!r}` is not supported")
