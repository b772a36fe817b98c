"""`refmlc passes FILE --tvm PYTHON | --impl cmd:COMMAND`: find the pass that changes the meaning of a module."""

import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

import refmlc
from refmlc.cli.console import err, out, print_json, show_diagnostic
from refmlc.cli.inputs import named_values
from refmlc.cli.options import (
    PATH,
    assume_option,
    budget_option,
    calls_option,
    file_argument,
    json_option,
    params_option,
    seed_option,
)
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE
from refmlc.diag.errors import Internal
from refmlc.diag.render import to_json
from refmlc.oracle.contracts import ArgumentContract
from refmlc.oracle.contracts.assumptions import assumed, assumed_beside
from refmlc.oracle.implementations.real_tvm import PIPELINES
from refmlc.oracle.passes.baseline import Constants, lifted
from refmlc.oracle.passes.check import Compiler, Shrunk, check, shrunk
from refmlc.oracle.passes.report import TvmRequest, markdown
from refmlc.oracle.passes.run import CompilerProcess, TvmPasses
from refmlc.oracle.passes.stages import PassTrace, StageRow, TraceCheck, read_trace
from refmlc.oracle.refine.proved import SECONDS
from refmlc.run.memory.files import read_arrays

COLORS = {"same": "green", "broken": "red", "documented": "yellow", "unsupported": "yellow", "no call": "dim"}
COLORS |= {"proved": "green", "over the reals": "green", "tested": "yellow", "undecided": "yellow", "refuted": "red"}
NAMED = {name: key for key, names in PIPELINES.items() for name in names}
NAMED_HELP = "tirx for prim_funcs of TIRx, default_build for graphs"
PASSES_HELP = (
    "Run these passes in this order: relax.LegalizeOps,tirx.NarrowDataType(32).  [default: the whole pipeline]"
)


@click.command("passes", epilog="Example: refmlc passes model.py --tvm PYTHON --report finding.md")
@file_argument
@click.option("--tvm", "python", metavar="PYTHON", help="A Python with apache-tvm.")
@click.option("--impl", "impl", metavar="cmd:COMMAND", help="A compiler that answers `passes` in lines of JSON.")
@click.option("--passes", "names", metavar="NAMES", help=PASSES_HELP)
@click.option(
    "--pipeline",
    type=click.Choice(list(NAMED)),
    help=f"A named pipeline of TVM, in place of the target's: {NAMED_HELP}.",
)
@click.option("--target", default="llvm", show_default=True, help="The target of TVM.")
@click.option("--opt", default=2, show_default=True, type=click.IntRange(0, 3), help="The opt_level of TVM.")
@click.option("--input", "inputs", multiple=True, metavar="NAME=VALUE", help="An argument, as for `refmlc run`.")
@params_option
@assume_option
@calls_option
@budget_option
@seed_option
@click.option("--reduce/--no-reduce", "small", default=True, help="Shrink a module that a pass breaks.")
@click.option("--report", type=PATH, help="Write the finding as Markdown.")
@click.option("--prove", is_flag=True, help="Prove each stage for all arguments too, 10 s for each.")
@json_option
def passes(  # noqa: PLR0913 - one parameter per option
    file: Path,
    python: str | None,
    impl: str | None,
    names: str | None,
    *,
    pipeline: str | None,
    target: str,
    opt: int,
    inputs: tuple[str, ...],
    assume: tuple[str, ...],
    params: Path | None,
    calls: int | None,
    budget: float,
    seed: int,
    small: bool,
    report: Path | None,
    prove: bool,
    as_json: bool,
) -> None:
    """Run the module in FILE through the passes of a compiler and find the first that changes its meaning.

    The compiler is TVM (`--tvm`), or one that speaks the protocol of `conformance/adapters/PROTOCOL.md` (`--impl`).
    FILE may also hold the snapshots of a compiler: one JSON object with `name` and `text` per line (*.jsonl). Exit
    status: 1 a pass changes the meaning, shown by a small call, or the compiler refuses or breaks on a defined module;
    3 nothing could be compared; 70 a call contradicts a proof (--prove), a bug of refmlc.
    """
    arguments = {**(dict(read_arrays(params)) if params else {}), **named_values(inputs)}
    requested = PassCalls(arguments, calls, budget, seed, (*assumed(assume), *assumed_beside(file)), prove=prove)
    asked = TvmRequest(_pass_names(names), target, opt, {NAMED[pipeline]: pipeline} if pipeline else {})
    if file.suffix == ".jsonl":
        trace, reduction, compiler = _of_snapshots(file, requested, asked), None, str(file)
    else:
        with err.status(f"{file}: pass by pass …"), _program(python, impl, asked) as program:
            trace, reduction = _of_module(file, program, requested, small=small)
            compiler = " ".join(filter(None, (program.name, program.version)))
            if python is not None:
                named = f", pipeline {pipeline}" if pipeline else ""
                compiler = f"{compiler} for {target}, opt_level {opt}{named}".replace("tvm", "TVM", 1)
    if report is not None:
        _write(report, trace, reduction, compiler, None if python is None else asked)
    if as_json:
        print_json(_data(trace, reduction))
    else:
        _show(trace, reduction)
    sys.exit(_status(trace))


def _status(trace: TraceCheck) -> int:
    """0, 1 where a pass changes the meaning or the compiler fails, 3 if nothing was compared, 70 for an alarm."""
    if trace.alarms:
        return Internal.exit_code
    if trace.broken is not None or trace.failure is not None:
        return 1
    return 0 if trace.compared or not (trace.rows or trace.stopped) else 3


def _program(python: str | None, impl: str | None, asked: TvmRequest) -> CompilerProcess:
    if (python is None) == (impl is None):
        compilers = (
            "`--tvm PYTHON`, a Python that has apache-tvm, or `--impl cmd:COMMAND`, a compiler that answers lines"
        )
        raise fail(BAD_USAGE, f"say which compiler, once: {compilers}")
    if asked.passes is not None and not asked.passes:
        raise fail(BAD_USAGE, "`--passes` names no pass")
    if asked.pipelines and (python is None or asked.passes is not None):
        raise fail(BAD_USAGE, "`--pipeline` is one of TVM (`--tvm`), and runs whole, without `--passes`")
    if python is not None:
        return TvmPasses(python, passes=asked.passes, target=asked.target, opt=asked.opt, pipelines=asked.pipelines)
    kind, _, command = (impl or "").partition(":")
    if kind != "cmd" or not command.strip():
        raise fail(BAD_USAGE, f"`{impl}` is not a compiler: write `cmd:COMMAND`, or `--tvm PYTHON` for TVM")
    return CompilerProcess(shlex.split(command), passes=asked.passes)


def _pass_names(names: str | None) -> list[str] | None:
    """The passes to run; None: the whole pipeline."""
    if names is None:
        return None
    return [name.strip() for name in re.split(r",(?![^()]*\))", names) if name.strip()]


@dataclass(frozen=True)
class PassCalls:
    """The requested calls: explicit arguments by name, their number at most, seconds, a seed, contracts, proofs."""

    inputs: Mapping[str, object]
    calls: int | None
    budget: float
    seed: int
    assume: tuple[ArgumentContract, ...] = ()
    prove: bool = False

    def check(self, trace: PassTrace, constants: Constants | None = None, given: str | None = None) -> TraceCheck:
        """The verdict on a trace with these calls. Fails: as `check`."""
        return check(
            trace,
            constants=constants,
            calls=self.calls,
            seed=self.seed,
            budget=self.budget,
            inputs=self.inputs,
            given=given,
            assume=self.assume,
            prove=SECONDS if self.prove else 0.0,
        )


def _of_module(
    file: Path, compiler: Compiler, requested: PassCalls, *, small: bool
) -> tuple[TraceCheck, Shrunk | None]:
    module = refmlc.read_file(file)
    parametrised, constants = lifted(module)
    text = refmlc.show(parametrised, show_meta=True)
    trace = requested.check(compiler(text), constants, text)
    if trace.broken is None or not small:
        return trace, None
    return trace, shrunk(
        module,
        trace.broken,
        compiler,
        calls=requested.calls,
        inputs=requested.inputs,
        assume=requested.assume,
    )


def _of_snapshots(file: Path, requested: PassCalls, asked: TvmRequest) -> TraceCheck:
    if asked.passes is not None or asked.pipelines:
        raise fail(BAD_USAGE, f"{file} holds what passes have left: `--passes` and `--pipeline` change nothing in it")
    try:
        lines = file.read_text(encoding="utf-8").split("\n")  # `splitlines` would also split inside strings
    except (OSError, UnicodeDecodeError) as problem:
        raise fail(BAD_FILE, f"{file}: {problem}") from None
    return requested.check(read_trace(lines))


def _write(
    report: Path, trace: TraceCheck, reduction: Shrunk | None, compiler: str, request: TvmRequest | None
) -> None:

    command = f"$ refmlc {shlex.join(sys.argv[1:])}"
    report.write_text(
        markdown(trace, compiler=compiler, command=command, small=reduction, tvm=request), encoding="utf-8"
    )


def _data(trace: TraceCheck, reduction: Shrunk | None) -> dict[str, object]:
    """The result as JSON."""
    broken = trace.broken if reduction is None else reduction.broken
    rows = [_row_data(row) for row in trace.rows]
    finding = (
        None
        if broken is None
        else {
            "pass": broken.name,
            "unread": list(broken.unread),
            "func": broken.func,
            "before": broken.before.name,
            **to_json(broken.diagnostic),
        }
    )
    return {
        "stages": rows,
        "stopped": trace.stopped,
        "kind": trace.kind.value if trace.stopped else None,
        "failure": None if trace.failure is None else to_json(trace.failure),
        "broken": finding,
        "module": None if reduction is None else reduction.text,
        "notes": list(trace.notes),
        "alarms": [to_json(alarm) for alarm in trace.alarms],
    }


def _row_data(row: StageRow) -> dict[str, object]:
    data: dict[str, object] = {
        "pass": row.name,
        "verdict": row.verdict.value,
        "calls": row.calls,
        "why": row.why,
    }
    if row.proof is not None:
        proof = row.proof
        data["proof"] = {
            "word": proof.word.value,
            "extent": proof.extent,
            "reason": proof.reason,
            "assumptions": list(proof.assumptions),
        }
    return data


def _show(trace: TraceCheck, reduction: Shrunk | None) -> None:
    if not trace.rows and not trace.stopped:
        out.print("no pass changes the module: there is nothing to compare")
        return
    has_proofs = any(row.proof is not None for row in trace.rows)
    table = Table("pass", "verdict", "calls", *(["proof"] if has_proofs else []), "why")
    for row in trace.rows:
        proof = [] if row.proof is None else [Text(row.proof.label, style=COLORS[row.proof.word.value])]
        why = "; ".join(filter(None, (row.why, "" if row.proof is None else row.proof.reason)))
        verdict = Text(row.verdict.value, style=COLORS[row.verdict.value])
        table.add_row(Text(row.name), verdict, str(row.calls), *proof, Text(why))
    out.print(table)
    for alarm in trace.alarms:
        show_diagnostic(alarm, err)
    if trace.stopped:
        out.print(Text(f"the compiler {trace.stop_text}"), style="yellow")
    for note in trace.notes:
        out.print(Text(note))
    broken = trace.broken if reduction is None else reduction.broken
    if trace.failure is not None:
        show_diagnostic(trace.failure, err)
    if broken is None:
        return
    if reduction is not None:
        out.print(Text(f"the smallest module found that {broken.name} breaks:\n"), Text(reduction.text), sep="")
    show_diagnostic(broken.diagnostic, err)
    click.echo(broken.headline, err=True)
