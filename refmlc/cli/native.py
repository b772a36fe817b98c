"""`refmlc native FILE`: the C of a module's functions, and the grade of each block."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import click
from rich.syntax import Syntax
from rich.text import Text

import refmlc
from refmlc.cli.console import out, print_json
from refmlc.cli.inputs import sizes_of
from refmlc.cli.options import dims_option, file_argument, json_option
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.diag.source import Span
from refmlc.lang.ir import IRModule, tir
from refmlc.native.compile import detect_isa
from refmlc.native.emit import emit_module
from refmlc.native.fuse import with_dims
from refmlc.native.options import ISAS, Grade, Options
from refmlc.native.text import comment as remark
from refmlc.native.tier.compilation import Translation, translate
from refmlc.native.unit import BlockReport, Declined, Unit

GRADES = {grade.name.lower(): grade for grade in Grade}
COLOURS = {Grade.GUARDED: "yellow", Grade.UNCHECKED: "cyan", Grade.REORDERED: "green"}
MEANINGS = {
    Grade.GUARDED: "as written, with checks for everything unproved",
    Grade.UNCHECKED: "as written, everything is proved",
    Grade.REORDERED: "everything is proved, in a faster order",
}
MOST_REASONS = 3  # in a line; --why shows all


@click.command(epilog="Example: refmlc native gemm.py --why")
@file_argument
@click.option("--func", help="Show only this function.")
@dims_option("With --func: compile for this size of a symbolic dimension.")
@click.option(
    "--why", is_flag=True, help="Show the proofs, the checks and the needs of the next grade in place of the C."
)
@click.option(
    "--isa", type=click.Choice(list(ISAS)), help="Generate for this instruction set.  [default: of this machine]"
)
@click.option(
    "--best",
    type=click.Choice(list(GRADES)),
    default="reordered",
    show_default=True,
    help="Use no better grade than this.",
)
@click.option(
    "--math",
    type=click.Choice(["cr", "libm"]),
    default="cr",
    show_default=True,
    help="Transcendental functions: correctly rounded, or of the C library.",
)
@json_option
def native(
    file: Path,
    func: str | None,
    dims: tuple[str, ...],
    isa: str | None,
    best: str,
    math: str,
    *,
    why: bool,
    as_json: bool,
) -> None:
    """Show the C generated for the prim_funcs in FILE, with the grade of each block and its reason.

    In a pipe, the grades are comments after the C. A function with symbolic dimensions is compiled again for the
    sizes of its calls when that pays: --func and --dim show the result.
    """
    module = refmlc.read_file(file)
    options = Options(GRADES[best], ISAS[isa] if isa else detect_isa(), "libm" if math == "libm" else "cr")
    translation = _translated(module, func, sizes_of(dims), options)
    if as_json:
        print_json({"file": str(file), "isa": options.isa.name, "best": best, "math": math, **_data(translation)})
        return
    if not why:
        _show(translation.text)
    lines = [line for unit in translation.units.values() for line in _unit_lines(unit, why=why)]
    lines += [Text(f"{run.function}: {', '.join(run.calls)} in one call") for run in translation.fused]
    lines += [_declined_line(name, reason) for name, reason in translation.declined.items()]
    _print_remarks(lines, comment=not why)


def _translated(module: IRModule, func: str | None, sizes: Mapping[str, int], options: Options) -> Translation:
    """The module in C, or one function of it for dimensions that are known. Fails: RM112."""
    if func is None:
        if sizes:
            raise fail(BAD_USAGE, "`--dim` is for one function: give `--func` too")
        return translate(module, options)
    source = emit_module(module, options, (_checked_name(module, func),))
    function = module.functions[func]
    if sizes and isinstance(function, tir.PrimFunc) and func in source.units:
        dims = {var.name: var for var in source.units[func].dims}
        for name in sizes:
            if name not in dims:
                raise fail(BAD_USAGE, f"`{func}` has no open dimension `{name}`", None, f"it has {_list_of(dims)}")
        static = with_dims(function, {dims[name]: size for name, size in sizes.items()})
        source = emit_module(IRModule({**module.functions, func: static}), options, (func,))
    return Translation(source.text, source.units, source.declined)


def _list_of(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _checked_name(module: IRModule, func: str) -> str:
    """`func`, a prim_func of the module. Fails: RM112."""
    names = [name for name, function in module.functions.items() if isinstance(function, tir.PrimFunc)]
    if func not in names:
        raise fail(BAD_USAGE, f"the module has no prim_func `{func}`", None, f"its prim_funcs: {_list_of(names)}")
    return func


def _show(text: str) -> None:
    """Print the C: coloured on a terminal, unchanged elsewhere."""
    if out.is_terminal:
        out.print(Syntax(text.rstrip("\n"), "c", theme="ansi_dark", background_color="default"), soft_wrap=True)
        out.print()
    else:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def _print_remarks(lines: list[Text], *, comment: bool) -> None:
    """The remarks on the functions; in a pipe, a comment after the C."""
    if comment and not out.is_terminal:
        sys.stdout.write("".join(f"{remark(line.plain)}\n" for line in lines))
        return
    for line in lines:
        out.print(line)


def _unit_lines(unit: Unit, *, why: bool) -> Iterator[Text]:
    """A function and its blocks."""
    yield Text.assemble((unit.name, "bold"), f" ({unit.symbol}): ", _grade(unit.grade), f", {MEANINGS[unit.grade]}")
    for block in unit.blocks:
        yield Text.assemble(f"  {block.name} ", (_place(block.span), "dim"), ": ", _grade(block.grade), _reason(block))
        if why:
            yield from _list(block.proofs, "how" if block.grade is Grade.REORDERED else "proved", "green")
            checked = block.wanting if block.grade is Grade.GUARDED else ()
            yield from _list(checked, "checked at run time, needs a proof", "yellow")
            yield from _list(block.wanting if not checked else (), "needed for the next grade", "cyan")


def _list(items: tuple[str, ...], head: str, colour: str) -> Iterator[Text]:
    """The distinct items, each after a head."""
    for item in dict.fromkeys(items):
        yield Text.assemble("    ", (head, colour), f": {item}")


def _reason(block: BlockReport) -> str:
    """Why the block has its grade, in one line."""
    match block.grade:
        case Grade.GUARDED:
            return f", {block.checks} checks: {_first_reasons(block.wanting)}"
        case Grade.UNCHECKED:
            return f", all proved; {_first_reasons(block.wanting)}" if block.wanting else ", all proved"
        case Grade.REORDERED:
            return f": {_first_reasons(block.proofs)}" if block.proofs else ""


def _first_reasons(reasons: tuple[str, ...]) -> str:
    """The first reasons, and the number of others."""
    different = list(dict.fromkeys(reasons))
    more = f", and {len(different) - MOST_REASONS} more" if len(different) > MOST_REASONS else ""
    return "; ".join(different[:MOST_REASONS]) + more


def _declined_line(name: str, declined: Declined) -> Text:
    why = f": interpreted, because {declined.reason}"
    return Text.assemble((name, "bold"), " ", (_place(declined.span), "dim"), why)


def _grade(grade: Grade) -> tuple[str, str]:
    return grade.name.lower(), COLOURS[grade]


def _place(span: Span | None) -> str:
    return "" if span is None else span.place


def _data(result: Translation) -> dict[str, object]:
    """The C and its remarks, for machines."""
    return {
        "text": result.text,
        "functions": [_unit_data(unit) for unit in result.units.values()],
        "fused": [{"function": run.function, "symbol": run.symbol, "calls": list(run.calls)} for run in result.fused],
        "declined": [
            {"name": name, "reason": declined.reason, "place": _place(declined.span)}
            for name, declined in result.declined.items()
        ],
    }


def _unit_data(unit: Unit) -> dict[str, object]:
    """A function for machines."""
    blocks = [
        {
            "name": block.name,
            "place": _place(block.span),
            "grade": block.grade.name.lower(),
            "checks": block.checks,
            "proofs": list(block.proofs),
            "wanting": list(block.wanting),
        }
        for block in unit.blocks
    ]
    return {"name": unit.name, "symbol": unit.symbol, "grade": unit.grade.name.lower(), "blocks": blocks}
