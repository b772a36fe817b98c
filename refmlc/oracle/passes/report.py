"""A broken pass as Markdown, ready to be filed: what is wrong, on which call, what the pass changed, how to see it."""

from collections.abc import Iterator
from difflib import unified_diff

from refmlc.diag.render import render_text
from refmlc.oracle.passes.shrink import Shrunk
from refmlc.oracle.passes.tvm_script import TvmRequest, tvm_script
from refmlc.oracle.passes.verdicts import BrokenStage, TraceCheck

MOST_LINES = 200


def markdown(
    checked: TraceCheck, *, compiler: str, command: str, small: Shrunk | None = None, tvm: TvmRequest | None = None
) -> str:
    """The report. `compiler`: its name and version; `command`: what shows the finding again; `tvm`: where it is TVM."""
    broken = checked.broken if small is None else small.broken
    if broken is None:
        verdicts = ", ".join(f"{row.name}: {row.said.value}" for row in checked.rows)
        return f"# No pass changes the meaning\n\n{compiler}: {verdicts or 'no stage'}.\n"
    return "\n".join(_lines(broken, compiler, command, small, tvm)) + "\n"


def _lines(
    broken: BrokenStage, compiler: str, command: str, small: Shrunk | None, tvm: TvmRequest | None
) -> Iterator[str]:
    yield f"# {broken.names} changes what `{broken.func}` computes"
    yield from ("", f"{compiler}: {broken.diagnostic.message}.", "")
    if small is not None:
        more = "" if small.finished else " (the reduction stopped at its limits: a smaller module may exist)"
        yield from (f"## The module{more}", "", *_fenced(small.text, "python"), "")
    yield from ("## The difference", "", *_fenced(render_text(broken.diagnostic), ""), "")
    yield from (f"## After {broken.names}", "")
    yield f"The stage before, `{broken.before.name}`, is the last one that keeps the meaning of the module."
    yield from ("", *_fenced(_difference(broken), "diff"), "")
    program = None if small is None or tvm is None else tvm_script(small.text, broken, tvm)
    if program is not None:
        yield from ("## Reproduce with TVM alone", "", *_fenced(program, "python"), "")
    yield from ("## Reproduce with refmlc", "", *_fenced(command, "console"))


def _difference(broken: BrokenStage) -> str:
    before, after = broken.before.text.splitlines(), broken.after.text.splitlines()
    lines = list(unified_diff(before, after, broken.before.name, broken.after.name, lineterm=""))
    rest = len(lines) - MOST_LINES
    return "\n".join([*lines[:MOST_LINES], *([f"… {rest} more lines"] if rest > 0 else [])])


def _fenced(text: str, language: str) -> tuple[str, str, str]:
    """A block of code, whose fence is longer than any in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}", text.rstrip("\n"), fence
