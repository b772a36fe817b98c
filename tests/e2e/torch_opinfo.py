"""PyTorch's own samples of its operators (`OpInfo`), each exported, imported, run and compared with PyTorch.

`python tests/e2e/torch_opinfo.py [--samples 6] [--dtypes float32,int64] [--jobs 2] [OPERATOR …]`

| becomes      | if                                                                                   |
|--------------|--------------------------------------------------------------------------------------|
| right        | results have PyTorch's shapes, dtypes and values: bools and integers to the bit,     |
|              | floats within `BOUNDS`; NaN and infinities where PyTorch has them; of float32 those  |
|              | of PyTorch in float64 too, since its kernels for float32 differ at infinities, or at |
|              | most 4 times as far from these as PyTorch's own                                       |
| wrong        | one has not                                                                          |
| unsupported  | the import says so by name                                                           |
| refused      | another finding                                                                      |
| traceback    | anything else is raised, or the process ends                                         |
| left out     | PyTorch does not export or run it, the result is random, uninitialised or not dense, |
|              | or an argument has more than `LARGEST` elements                                      |

Of the first samples with floats there is another one each, with NaN, infinities and zeros among the elements. An
operator has a process of its own. Ends with 1 where a sample is wrong or ends in a traceback.
"""

import argparse
import json
import logging
import multiprocessing
import sys
import time
import traceback
import types
import unittest
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from torch import Tensor, nn
from torch.utils import _pytree as pytree

import refmlc
from refmlc.diag import RefmlcError
from refmlc.diag.errors import Unsupported
from refmlc.frontends import from_exported_program
from refmlc.frontends.arrays import array_of

LARGEST = 3000
BOUNDS = {
    torch.float64: (1e-7, 1e-7),
    torch.float32: (1.3e-6, 1e-5),
    torch.float16: (2e-3, 1e-3),
    torch.bfloat16: (2e-2, 1e-2),
}
"""How far apart floats may be: a part of PyTorch's value, and what is added; PyTorch's own where they are enough."""
SPECIAL = (float("nan"), float("inf"), float("-inf"), 0.0, -0.0)
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "pytorch.md"
MARK = ("<!-- operators: written by tests/e2e/torch_opinfo.py --docs -->\n", "<!-- end of operators -->")
BAD = ("wrong", "traceback")
OUTCOMES = ("right", "wrong", "unsupported", "refused", "traceback", "left out")
RANDOM = frozenset(
    {
        *("bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial", "normal", "uniform"),
        *("rand_like", "randint", "randint_like", "randn", "randn_like", "empty", "empty_like", "empty_permuted"),
        *("empty_strided", "new_empty", "new_empty_strided", "resize_", "resize_as_"),
    }
)
"""Operators whose results are random, or not written."""


FINITE = frozenset(
    {
        *("bucketize", "searchsorted"),  # their argument is ordered
        *("linalg.eigvals", "linalg.lstsq"),  # the library below PyTorch ends the process
        *("var_mean", "std_mean"),  # the mean is infinite or NaN by the place of an infinity
        "grid_sampler_3d",  # a coordinate that is NaN, beside an infinity
        "nn.functional.scaled_dot_product_attention",  # one of PyTorch's kernels drops a NaN, the others keep it
    }
)
"""Operators whose results with NaN and infinities PyTorch leaves open."""


def op_infos() -> list[object]:
    """PyTorch's own operators with their samples."""
    if (
        "expecttest" not in sys.modules and find_spec("expecttest") is None
    ):  # what its own tests derive from; none of them runs here
        stand_in = types.ModuleType("expecttest")
        stand_in.TestCase = unittest.TestCase  # type: ignore[attr-defined]
        sys.modules["expecttest"] = stand_in
    from torch.testing._internal.common_methods_invocations import op_db  # noqa: PLC0415 - ten seconds

    return list(op_db)


class Call(nn.Module):
    """An operator of tensors; what is not a tensor is known."""

    def __init__(self, operator: Callable[..., object], leaves: Sequence[object], form: object) -> None:
        super().__init__()
        self.operator, self.leaves, self.form = operator, list(leaves), form

    def forward(self, *given: Tensor) -> object:
        taken = iter(given)
        leaves = [next(taken) if isinstance(one, Tensor) else one for one in self.leaves]
        args, named = pytree.tree_unflatten(leaves, self.form)
        return self.operator(*args, **named)


@dataclass(frozen=True)
class Outcome:
    """What became of a sample, and why."""

    is_: str
    why: str = ""


def calls(info: object, dtype: torch.dtype, count: int) -> Iterator[tuple[Call, list[Tensor]]]:
    """Up to `count` samples of an operator, and half as many more with special values."""
    samples = islice(info.sample_inputs("cpu", dtype, requires_grad=False), 60)  # type: ignore[attr-defined]
    every = list(samples)
    chosen = every[:: max(1, len(every) // count)][:count]
    for at, sample in enumerate(chosen):
        leaves, form = pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
        leaves = [one.detach().clone() if isinstance(one, Tensor) else one for one in leaves]
        inputs = [one for one in leaves if isinstance(one, Tensor)]
        call = Call(info.op, leaves, form)  # type: ignore[attr-defined]
        yield call, inputs
        if (
            at < (count + 1) // 2
            and info.name not in FINITE
            and any(  # type: ignore[attr-defined]
                one.is_floating_point() and one.numel() for one in inputs
            )
        ):
            others = not info.name.startswith("nn.functional.")  # type: ignore[attr-defined]  # not parameters
            yield call, [special(one) if others or place == 0 else one for place, one in enumerate(inputs)]


def special(tensor: Tensor) -> Tensor:
    """The tensor with NaN, infinities and zeros spread among its elements."""
    if not tensor.is_floating_point() or tensor.layout != torch.strided:
        return tensor
    found = tensor.clone().contiguous()
    flat = found.view(-1)
    for at in range(0, flat.numel(), 3):
        flat[at] = SPECIAL[(at // 3) % len(SPECIAL)]
    return found


def in_order(
    tensor: Tensor, call: Call, found: Sequence[object], wanted: Sequence[Tensor]
) -> tuple[list[object], list[Tensor]]:
    """What both results of `topk` say: the values in order, and at their places the same; which of equal is open."""
    ours = [torch.from_numpy(one.numpy().copy()) for one in found]  # type: ignore[attr-defined]
    axis = next((one for one in call.leaves[2:] if type(one) is int), -1)
    seen = []
    for values, places in (ours, wanted):
        there = tensor.gather(axis, places) if tensor.ndim else tensor.expand(places.shape)
        seen.append([one.sort(axis).values if one.ndim else one for one in (values, there)])
    return seen[0], seen[1]


def outcome(call: Call, inputs: list[Tensor], name: str) -> Outcome:
    """What became of a sample."""
    if any(one.layout != torch.strided or one.numel() > LARGEST for one in inputs):
        return Outcome("left out", "an argument is too large, or not dense")
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # PyTorch's own, on its own code
        try:
            result = call(*[one.clone() for one in inputs])
            wanted = [one for one in pytree.tree_leaves(result) if isinstance(one, Tensor)]
            program = torch.export.export(call, tuple(inputs))
        except Exception as broken:  # noqa: BLE001 - PyTorch's own
            return Outcome("left out", f"not exported: {type(broken).__name__}")
    if any(one.layout != torch.strided or one.is_quantized for one in wanted):
        return Outcome("left out", "a result is not dense")
    try:
        module = from_exported_program(program)
        main = refmlc.VirtualMachine(refmlc.build(module, "interp"))["main"]
        with np.errstate(all="ignore"):
            found = main(*[array_of(one) for one in inputs])
        results = [one for one in pytree.tree_leaves(found) if hasattr(one, "numpy")]
        if name == "topk":
            results, wanted = in_order(inputs[0], call, results, wanted)
        found = compared(results, wanted)
        return found if found.is_ != "wrong" else in_double(call, inputs, results, wanted, found)
    except Unsupported as unsupported:
        return Outcome("unsupported", unsupported.diagnostic.message)
    except RefmlcError as refused:
        return Outcome("refused", f"{refused.diagnostic.code.id} {refused.diagnostic.message}")
    except Exception as broken:  # noqa: BLE001 - that is what is counted
        place = traceback.extract_tb(broken.__traceback__)[-1]
        what = " ".join(str(broken).split())[:200]
        return Outcome("traceback", f"{type(broken).__name__}: {what} ({Path(place.filename).name}:{place.lineno})")


def in_double(
    call: Call, inputs: list[Tensor], found: Sequence[object], wanted: Sequence[Tensor], otherwise: Outcome
) -> Outcome:
    """Right within the bounds of what PyTorch gives in float64, or at most 4 times as far from it as float32 is."""
    if not any(one.dtype == torch.float32 for one in inputs):
        return otherwise
    wide = [one.double() if one.dtype == torch.float32 else one for one in inputs]
    try:
        result = Call(call.operator, [_wide(one) for one in call.leaves], call.form)(*wide)
    except Exception:  # noqa: BLE001 - PyTorch's own
        return otherwise
    exact = [one for one in pytree.tree_leaves(result) if isinstance(one, Tensor)]
    narrow = compared(found, [one.to(want.dtype) for one, want in zip(exact, wanted, strict=True)])
    if narrow.is_ == "right":
        return narrow
    near = all(
        distance(ours.numpy(), there) <= 4 * distance(theirs.numpy(), there)  # type: ignore[attr-defined]
        for ours, theirs, there in zip(found, wanted, (one.numpy() for one in exact), strict=True)
    )
    return Outcome("right") if near else otherwise


def distance(found: np.ndarray, exact: np.ndarray) -> float:
    """The greatest distance of elements; NaN where the elements that are not finite differ."""
    finite = np.isfinite(exact)
    if found.shape != exact.shape or not np.array_equal(
        found[~finite], exact[~finite].astype(found.dtype), equal_nan=True
    ):
        return float("nan")
    return float(np.abs(found[finite] - exact[finite]).max(initial=0)) if exact.dtype.kind == "f" else float("nan")


def _wide(leaf: object) -> object:
    return torch.float64 if leaf is torch.float32 else leaf.double() if _is_float32(leaf) else leaf  # type: ignore[union-attr]


def _is_float32(leaf: object) -> bool:
    return isinstance(leaf, Tensor) and leaf.dtype == torch.float32


def compared(found: Sequence[object], wanted: Sequence[Tensor]) -> Outcome:
    """Whether results are PyTorch's."""
    if len(found) != len(wanted):
        return Outcome("wrong", f"{len(found)} results for {len(wanted)}")
    for ours, theirs in zip(found, wanted, strict=True):
        a, b = ours.numpy(), array_of(theirs)  # type: ignore[attr-defined]
        if a.shape != b.shape or a.dtype != b.dtype:
            return Outcome("wrong", f"{a.dtype}{a.shape} for {b.dtype}{b.shape}")
        if theirs.dtype not in BOUNDS:
            same = np.array_equal(a, b)
        else:
            relative, absolute = BOUNDS[theirs.dtype]
            a, b = a.astype(np.float64), b.astype(np.float64)
            same = np.allclose(a, b, relative, absolute, equal_nan=True)
        if not same:
            at = next(place for place in np.ndindex(a.shape) if not np.allclose(a[place], b[place], 1e-6, 1e-6, True))
            return Outcome("wrong", f"{a[at]} for {b[at]} at {list(at)} of {list(a.shape)}, {theirs.dtype}")
    return Outcome("right")


def of_operator(info: object, dtypes: Sequence[torch.dtype], count: int, to: object) -> None:
    """What became of each sample of an operator, into a pipe."""
    logging.disable(logging.CRITICAL)  # PyTorch's own, of what it does not export
    torch.set_num_threads(1)
    torch.manual_seed(20_260)
    for dtype in dtypes:
        try:
            samples = list(calls(info, dtype, count))
        except Exception as broken:  # noqa: BLE001 - its own, where it needs what is not here
            to.send((str(dtype), "left out", f"no samples: {type(broken).__name__}"))  # type: ignore[attr-defined]
            continue
        for call, inputs in samples:
            found = outcome(call, inputs, info.name)  # type: ignore[attr-defined]
            to.send((str(dtype), found.is_, found.why))  # type: ignore[attr-defined]


def named(info: object) -> str:
    """The name of an operator, with its variant."""
    variant = info.variant_test_name  # type: ignore[attr-defined]
    return f"{info.name}:{variant}" if variant else str(info.name)  # type: ignore[attr-defined]


def in_process(info: object, dtypes: Sequence[torch.dtype], count: int, seconds: float) -> list[tuple[str, str, str]]:
    """What became of each sample, in a process of its own."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=of_operator, args=(info, dtypes, count, theirs))
    process.start()
    theirs.close()
    found, end = [], time.monotonic() + seconds
    try:
        while ours.poll(max(0.0, end - time.monotonic())):
            found.append(ours.recv())
    except EOFError:
        process.join()
        if process.exitcode:
            found.append(("", "traceback", f"the process ends with {process.exitcode}"))
        return found
    process.kill()
    process.join()
    return [*found, ("", "left out", f"more than {seconds:.0f} s")]


def supported(info: object, dtypes: Sequence[torch.dtype]) -> list[torch.dtype]:
    """Those of the dtypes that PyTorch has for the operator."""
    return [one for one in dtypes if info.supports_dtype(one, "cpu")]  # type: ignore[attr-defined]


def main() -> int:
    """Print what became of the samples."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("names", nargs="*", metavar="OPERATOR")
    reader.add_argument("--samples", type=int, default=6, help="how many of each operator and dtype")
    reader.add_argument("--dtypes", default="float32,int64")
    reader.add_argument("--seconds", type=float, default=120)
    reader.add_argument("--part", default="1/1", help="the K-th of N parts of the operators: K/N")
    reader.add_argument("--docs", action="store_true", help="write the table into docs/reference/pytorch.md")
    reader.add_argument("--read", type=Path, nargs="*", default=[], help="logs of parts, instead of running")
    reader.add_argument("--log", type=Path, help="a file for each outcome, a line of JSON each")
    given = reader.parse_args()
    dtypes = [getattr(torch, name) for name in given.dtypes.split(",")]
    part, parts = (int(one) for one in given.part.split("/"))
    infos = [] if given.read else op_infos()
    infos = [one for one in infos if not given.names or named(one) in given.names or one.name in given.names]  # type: ignore[attr-defined]
    infos = [one for one in infos if one.name not in RANDOM][part - 1 :: parts]  # type: ignore[attr-defined]
    log = merged(given.read)
    if not given.read:
        log = run(infos, dtypes, given.samples, given.seconds, every=bool(given.names))
    if given.log:
        given.log.write_text("".join(json.dumps(one) + "\n" for one in log), encoding="utf-8")
    counts = counted(log)
    Console(width=200).print(summary(log))
    if given.docs:
        text = PAGE.read_text(encoding="utf-8")
        before, after = text.split(MARK[0])[0], text.split(MARK[1])[1]
        PAGE.write_text(before + MARK[0] + table(log) + MARK[1] + after, encoding="utf-8")
    return 1 if any(counts[what] for what in BAD) else 0


def run(
    infos: Sequence[object], dtypes: Sequence[torch.dtype], samples: int, seconds: float, *, every: bool
) -> list[dict[str, object]]:
    """What became of the samples; findings are printed as they come, `every` outcome but right ones where asked for."""
    console, log = Console(width=200), []
    for info in infos:
        found = in_process(info, supported(info, dtypes), samples, seconds)
        for (dtype, what, why), times in Counter(found).items():
            log.append({"operator": named(info), "dtype": dtype, "is": what, "why": why, "times": times})
            if what in {*BAD, "refused"} or (every and what != "right"):
                console.print(f"{named(info)} {dtype} {what} {times} times: {why}", markup=False, highlight=False)
    return log


def merged(files: Sequence[Path]) -> list[dict[str, object]]:
    """The outcomes in logs; a later log replaces what an earlier one says of an operator."""
    log: list[dict[str, object]] = []
    for file in files:
        added = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        again = {one["operator"] for one in added}
        log = [one for one in log if one["operator"] not in again] + added
    return log


def counted(log: Sequence[dict[str, object]]) -> Counter:
    """How many samples became what."""
    counts: Counter = Counter()
    for one in log:
        counts[one["is"]] += one["times"]
    return counts


def summary(log: Sequence[dict[str, object]]) -> str:
    """The counts in a line."""
    counts, right = counted(log), {one["operator"] for one in log if one["is"] == "right"}
    outcomes = ", ".join(f"{counts[what]} {what}" for what in OUTCOMES)
    return f"{len({one['operator'] for one in log})} operators, {len(right)} with a right sample; samples: {outcomes}."


def table(log: Sequence[dict[str, object]]) -> str:
    """The table for the documents: what is not right, with the operators for which it is so."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in log:
        if one["is"] not in {"right", "left out"}:
            why = " ".join(str(one["why"]).replace("|", " ").split())
            reasons.setdefault((str(one["is"]), why), []).append(str(one["operator"]))
    lines = [summary(log), "", "| is | because | operators |", "|---|---|---|"]
    for (what, why), operators in sorted(reasons.items()):
        names = sorted(set(operators))
        shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        lines.append(f"| {what} | {why} | {shown} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
