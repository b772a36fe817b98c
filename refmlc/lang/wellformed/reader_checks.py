"""Reading as users do it: the text becomes a module, and the module obeys the static rules."""

from pathlib import Path

from refmlc.diag import Related, Source, error
from refmlc.diag.catalogue import DATAFLOW_ESCAPE
from refmlc.diag.entry import entry_point
from refmlc.lang import script
from refmlc.lang.ir import IRModule
from refmlc.lang.script.reader.evidence import is_of_2022
from refmlc.lang.wellformed.escapes import let_out
from refmlc.lang.wellformed.module import check_module


@entry_point
def read(text: str, name: str = "<text>", *, check: bool = True) -> IRModule:
    """Read the module in `text`; `name` is what messages call it.

    Fails: RM1xx when the text is not TVMScript; RM2xx, the first finding with the number of others, when a static
    rule is broken and `check` is on.
    """
    return checked(script.read(text, name), check=check)


@entry_point
def read_file(path: Path | str, *, check: bool = True) -> IRModule:
    """Read the module in the file `path`, as `read`; `FILE::NAME` is one of several. Fails: also RM102, RM109."""
    return checked(script.read_file(path), check=check)


@entry_point
def read_parts(text: Path | str | Source) -> tuple[dict[str, IRModule], tuple[Related, ...]]:
    """The modules of a text, or of the file at a path, by name, not yet checked, and notes on what of it is skipped.

    Fails: as `read_file`, with all problems of the text; RM103 where it has no module.
    """
    program = script.program_of(text if isinstance(text, Source) else script.source_of(text))
    program.check()
    return program.named or {"": script.single(program)}, program.notes


def checked(module: IRModule, *, check: bool = True) -> IRModule:
    """The module itself, if it obeys the static rules or `check` is off.

    A variable that leaves its dataflow block is let out, with a warning, where the text is of 2022 (RLX-124).
    """
    findings = check_module(module) if check else ()
    if any(finding.code is DATAFLOW_ESCAPE for finding in findings) and is_of_2022(module.source):
        module = let_out(module, stacklevel=5)
        findings = check_module(module)
    if not findings:
        return module
    more = len(findings) - 1
    first = findings[0].noting(f"{more} more finding{'s' if more > 1 else ''} in this module") if more else findings[0]
    raise error(first)
