"""Implementations with a planted fault: the interpreter, on a program that was changed first.

| name             | the fault                                                                              |
|------------------|----------------------------------------------------------------------------------------|
| `floor_for_trunc`| division and remainder of integers round down instead of toward zero                   |
| `no_predicate`   | the predicate of a block (`T.where`) is dropped                                        |
| `off_by_one`     | a loop of an odd extent above 1 leaves out its last iteration                          |
| `no_init`        | a reduction block does not run its `T.init`                                            |
| `transposed`     | a load exchanges its last two indices, where both extents are the same                 |
| `no_cast`        | a widening cast from a signed integer takes it for an unsigned one                     |

Each is given as `py:planted:NAME`. `python tests/e2e/planted.py` measures how long one core takes to find each, and
what is left of the program when it is made smaller.
"""

# ruff: noqa: T201 - a command

import os
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from biting import prove

from refmlc.lang.dtypes import BOOL, SCALARS
from refmlc.lang.ir import IRModule, tir
from refmlc.lang.ir.equal import structural_equal
from refmlc.lang.ir.visit import rewrite
from refmlc.oracle.fuzz.campaign import Campaign
from refmlc.oracle.fuzz.settings import CampaignSettings, RunOptions
from refmlc.oracle.fuzz.store import open_store
from refmlc.oracle.implementations.implementation import Limits, Stop, Stopped
from refmlc.oracle.implementations.interp import Interp, Interpreted
from refmlc.oracle.implementations.wire import poisoned
from refmlc.run.memory.tensor import Tensor
from refmlc.vm.arguments import as_value

FLOOR = {"truncdiv": "floordiv", "truncmod": "floormod"}
FEW = 32  # programs that show what is certainly wrong
TRUE = tir.IntImm(BOOL, 1)


def floor_for_trunc(node):
    match node:
        case tir.Apply(op="truncdiv" | "truncmod" as op):
            return replace(node, op=FLOOR[op])
    return node


def no_predicate(node):
    match node:
        case tir.SBlockRealize(predicate=tir.IntImm()):
            return node
        case tir.SBlockRealize():
            return replace(node, predicate=TRUE)
    return node


def off_by_one(node):
    match node:
        case tir.For(extent=tir.IntImm(value=extent)) if extent > 1 and extent % 2:
            return replace(node, extent=replace(node.extent, value=extent - 1))
    return node


def no_init(node):
    match node:
        case tir.SBlock(init=init) if init is not None:
            return replace(node, init=None)
    return node


def transposed(node):
    match node:
        case tir.BufferLoad(buffer=buffer, indices=(*first, i, j)) if _size(buffer.shape[-1]) == _size(
            buffer.shape[-2]
        ):
            return replace(node, indices=(*first, j, i))
    return node


def _size(extent):
    return extent.value if isinstance(extent, tir.IntImm) else extent


def no_cast(node):
    match node:
        case tir.Cast(value=value, dtype=wide) if _widens(value.dtype, wide):
            unsigned = SCALARS.get(f"u{value.dtype}")
            return node if unsigned is None else replace(node, value=tir.Cast(unsigned, value))
    return node


def _widens(narrow, wide):
    return narrow.kind == "int" and not narrow.is_vector and (wide.is_float or wide.bits > narrow.bits)


def unchanged(node):
    """No fault: what finds the others must not find this."""
    return node


def no_loop(node):
    """What is certainly wrong: whatever looks for faults and misses this one is not looking."""
    match node:
        case tir.For(extent=tir.IntImm()):
            return replace(node, extent=replace(node.extent, value=0))
    return node


FAULTS = (floor_for_trunc, no_predicate, off_by_one, no_init, transposed, no_cast)


@dataclass(frozen=True)
class Planted:
    """The interpreter on changed programs. A check that stops it stands for whatever else would happen: a crash."""

    name: str
    change: object
    limits: Limits = field(default_factory=Limits)
    promises_verdicts: bool = False

    def prepare(self, module):
        functions = {name: self._changed(func) for name, func in module.functions.items()}
        return Wrong(Interpreted(replace(module, functions=functions), Interp(self.limits)))

    def _changed(self, func):
        return rewrite(func, self.change) if isinstance(func, tir.PrimFunc) else func

    def close(self):
        pass


@dataclass(frozen=True)
class Exchanged:
    """The interpreter on `wrong` where `right` is asked for; of no other module, its variants too, it says anything.

    Integers wrap, as in hardware (RM306), and memory that nobody wrote holds something, as for programs outside.
    """

    name: str
    right: IRModule
    wrong: IRModule
    limits: Limits = field(default_factory=Limits)
    promises_verdicts: bool = False

    def prepare(self, module):
        if not structural_equal(module, self.right):
            return Stopped(Stop.UNSUPPORTED, "only the module of the fault")
        return Poisoned(Interpreted(self.wrong, Interp(self.limits, allow=frozenset({"RM306"}))))

    def close(self):
        pass


@dataclass(frozen=True)
class Wrong:
    """A changed program, ready."""

    inner: Interpreted

    def run(self, func, args):
        answer = self.inner.run(func, args)
        if isinstance(answer, Stopped) and answer.why is Stop.UNDEFINED:
            return Stopped(Stop.CRASHED, "it went on where the program has no meaning")
        return answer

    def close(self):
        pass


@dataclass(frozen=True)
class Poisoned(Wrong):
    """The same, where reading what nobody wrote stops nothing: it is there."""

    def run(self, func, args):
        return super().run(func, [_poisoned(arg) for arg in args])


def _poisoned(arg):
    return as_value(poisoned(arg), None, "an argument") if isinstance(arg, Tensor) and not arg.initialised else arg


def __getattr__(name):
    """The implementation called `planted.NAME`, for `py:planted:NAME`."""
    faults = {f"{change.__name__}_implementation": change for change in (*FAULTS, unchanged, no_loop)}
    if name not in faults:
        raise AttributeError(name)
    return lambda limits: Planted(faults[name].__name__, faults[name], limits)


def spec(fault):
    """How `--impl` names it."""
    return f"py:planted:{fault.__name__}_implementation"


def settings(fault, **other):
    """A campaign that looks for a fault: small programs that are defined, nothing else compared."""
    return CampaignSettings(
        **({"implementations": (spec(fault),), "aim": "", "sanitize": 0, "large": 4, "size": 16} | other)
    )


def hunt(fault, path, *, shrink=60.0, programs=None, seconds=60.0, **other):
    """Run a campaign until there is a finding; the store's progress, and how many seconds the first one took."""
    with closing(open_store(path, settings(fault, **other))) as store:
        campaign = Campaign(store, RunOptions(seconds, programs, 1, None, shrink, 1))
        first = []

        def tick():
            if store.progress.findings and not first:
                first.append(campaign.seconds)
                campaign.ways = replace(campaign.ways, seconds=0.0)

        campaign.tick = tick
        campaign.run()
        return store.progress, (first or [None])[0]


def prove_itself():
    """A campaign finds loops that are not executed, and nothing where nothing is changed."""
    found = []
    for change in (no_loop, unchanged):
        with tempfile.TemporaryDirectory() as path:
            progress, _ = hunt(change, Path(path), shrink=0.0, programs=FEW)
            found.append(len(progress.findings))
    why = f"{found[0]} findings without loops, {found[1]} without a fault, in {FEW} programs"
    prove("the campaign", notices=found[0] > 0, passes=found[1] == 0, why=why)


def main():
    """The table."""
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    prove_itself()
    print(f"{'fault':18}{'found after s':>14}{'programs':>10}{'lines':>12}{'statements':>12}{'shrunk in s':>12}")
    for fault in FAULTS:
        with tempfile.TemporaryDirectory() as path:
            before = time.monotonic()
            progress, seconds = hunt(fault, Path(path))
            whole = time.monotonic() - before
            made = next(iter(progress.shrunk.values()), {})
            lines, statements = made.get("lines", ["", ""]), made.get("statements", ["", ""])
            found = "not found" if seconds is None else f"{seconds:.1f}"
            print(
                f"{fault.__name__:18}{found:>14}{progress.programs:>10}{'{} → {}'.format(*lines):>12}"
                f"{'{} → {}'.format(*statements):>12}{whole - (seconds or 0):>12.1f}"
            )
            if "--show" in sys.argv:
                print(made["case"]["text"] if "case" in made else made, flush=True)


if __name__ == "__main__":
    main()
