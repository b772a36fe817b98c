"""What refmlc infers of TVM's kernels that depend on values: the paged key-value kernels, and operators that look up.

    REFMLC_TVM_PYTHON=PYTHON python tests/e2e/contract_table.py [--check [SECONDS]] [NAME…]

A line for each kernel: uses of values of integers, contracts, and the uses without a natural form. With `--check` each
kernel is checked too, as `refmlc check` does it, with the processor time (`slow` above `SLOW` seconds) and the
findings; those of `EXPLAINED` are TVM's own, with the reason.
"""

# ruff: noqa: T201 - the command prints its table

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import refmlc
from refmlc.diag import RefmlcError
from refmlc.lang.ir import tir
from refmlc.oracle.arguments.trial import USUAL_BUDGET
from refmlc.oracle.check import check
from refmlc.oracle.contracts.infer import inferred
from refmlc.oracle.contracts.language import line_text

SIDE = Path(__file__).parent / "tvm_side"
PRINTERS = {"kv": "kv_kernels.py", "operators": "data_kernels.py"}
EXPLAINED = {
    ("cpu/decode", "RM203"): "TVM prints a region of the block with a buffer that the block allocates only later",
    ("cpu/prefill", "RM304"): "`scale_O` has one element and is read at `d_idx`, up to 31",
    ("cpu/prefill_sliding", "RM304"): "the same",
    ("cpu/tree_paged", "RM304"): "the same",
    ("cpu/prefill_ragged", "RM305"): "`m_new` is read before it is written where the mask hides the first key",
    ("cpu/tree", "RM305"): "the same",
    ("cpu/tree", "RM315"): "`batch_size_plus_1` = 0 makes an extent of -1",
    ("gpu/decode", "RM321"): "all threads of z write the same result to memory of scope global",
    ("gpu/decode_sliding", "RM321"): "the same",
    ("gpu/merge_state", "RM321"): "thread 0 writes `S` while another reads it; nothing orders them",
    ("gpu/merge_state", "RM304"): "heads and their elements are free in the declaration, 4 and 32 in the text",
    ("gpu/prefill", "RM318"): "the init of `O_gemm` reads what it scales; its block declares no reads (TIR-221)",
    ("gpu/prefill_mla", "RM318"): "the same",
    ("gpu/prefill_mla", "RM304"): "`q_indptr[1]` is read before the batch is compared with 0 sequences",
    ("gpu/tree", "RM318"): "as `prefill`",
    ("gpu/tree", "RM304"): "rows of a tile beyond the queries look into `mask`, past its end too; and as `prefill_mla`",
}
"""Findings that are TVM's, by kernel and code, with the reason; `gpu` is CUDA and Metal."""
GPU = ("cuda", "metal")
SLOW = 5.0  # seconds


@dataclass(frozen=True)
class KernelLine:
    """A kernel: its uses of values, its contracts, the uses without a natural form."""

    name: str
    uses: int
    contracts: tuple[str, ...]
    unexpressed: int
    problem: str = ""

    @property
    def is_expressed(self) -> bool:
        """Whether each use has its contract, or needs none."""
        return not self.problem and not self.unexpressed


def printed(folder: Path, python: str) -> Iterator[tuple[str, Path]]:
    """The kernels that TVM prints into a folder: name and file."""
    for kind, script in PRINTERS.items():
        command = [python, str(SIDE / script), str(folder / kind)]
        result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
        refused = {name: why for name, why in json.loads(result.stdout).items() if why}
        for name, why in refused.items():
            print(f"{kind}/{name}: TVM refuses: {why[:100]}", file=sys.stderr)
        for file in sorted((folder / kind).rglob("*.py")):
            name = str(file.relative_to(folder / kind).with_suffix(""))
            yield name if kind == "kv" else f"operators/{name}", file


def line_of(name: str, file: Path) -> KernelLine:
    """What refmlc infers of a kernel."""
    try:
        module = refmlc.read_file(file)
    except RefmlcError as failure:
        return KernelLine(name, 0, (), 0, f"{failure.diagnostic.code.id}: {failure.diagnostic.message}")
    found = [inferred(func) for func in module.functions.values() if isinstance(func, tir.PrimFunc)]
    return KernelLine(
        name,
        sum(each.accesses for each in found),
        tuple(line_text((row.clause,)) for each in found for row in each.clauses),
        sum(len(each.unexpressed) for each in found),
    )


def reason_of(name: str, code: str) -> str:
    """Why a finding is TVM's; empty: nobody has explained it."""
    target, _, kernel = name.partition("/")
    return EXPLAINED.get((f"gpu/{kernel}" if target in GPU else name, code), "")


def findings(file: Path, seconds: float) -> list[str]:
    """The codes of the findings of `check`."""
    try:
        report = check(file, budget=seconds)
    except RefmlcError as failure:
        return [failure.diagnostic.code.id]
    return list(dict.fromkeys(finding.code.id for finding in report.findings))


def _checked(name: str, file: Path, seconds: float) -> bool:
    """Check a kernel and print its time and findings; whether all of them are explained."""
    begin = time.process_time()
    codes = findings(file, seconds)
    spent = time.process_time() - begin
    print(f"{'':34} {spent:.1f} s{' slow' if spent > SLOW else ''}{'' if codes else ', no findings'}", flush=True)
    for code in codes:
        print(f"{'':34} {code}: {reason_of(name, code) or 'NOT EXPLAINED'}", flush=True)
    return all(reason_of(name, code) for code in codes)


def main(arguments: list[str]) -> int:
    """Print the table; 1 for a finding that is not explained."""
    python = os.environ["REFMLC_TVM_PYTHON"]
    checks = "--check" in arguments
    rest = [argument for argument in arguments if argument != "--check"]
    seconds = next((float(argument) for argument in rest if argument.replace(".", "").isdigit()), USUAL_BUDGET)
    names = [argument for argument in rest if not argument.replace(".", "").isdigit()]
    unexplained, lines = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for name, file in printed(Path(folder), python):
            if names and not any(each in name for each in names):
                continue
            line = line_of(name, file)
            lines.append(line)
            print(f"{name:34} {line.uses:4} uses  {line.unexpressed} open  {'; '.join(line.contracts) or line.problem}")
            unexplained += checks and not _checked(name, file, seconds)
    dependent = [line for line in lines if line.uses]
    expressed = sum(line.is_expressed for line in dependent)
    some = sum(bool(line.contracts) for line in dependent)
    print(
        f"{len(lines)} kernels, {len(dependent)} depend on values: {expressed} wholly expressed, {some} have contracts"
    )
    return int(unexplained > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
