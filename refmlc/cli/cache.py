"""`refmlc cache`: the libraries of compiled functions."""

import click

from refmlc.cli.console import out, print_json
from refmlc.cli.options import json_option
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.native.compile.cache import Cache, chosen_limit
from refmlc.native.compile.failures import BuildFailed
from refmlc.native.compile.folder import chosen_folder

KIB = 1 << 10


@click.group(invoke_without_command=True, epilog="Example: refmlc cache")
@json_option
@click.pass_context
def cache(context: click.Context, *, as_json: bool) -> None:
    """Show where compiled libraries are cached, and how much space they take."""
    if context.invoked_subcommand is None:
        _show(_open(), 0, as_json=as_json)


@cache.command(epilog="Example: refmlc cache clear")
@json_option
def clear(*, as_json: bool) -> None:
    """Remove all compiled libraries. Running processes keep those they have loaded."""
    libraries = _open()
    _show(libraries, libraries.shrink(0), as_json=as_json)


def _open() -> Cache:
    """The cache that the environment names. Fails: RM109 (unusable folder), RM112 (invalid size)."""
    try:
        return Cache(chosen_folder(), chosen_limit())
    except BuildFailed as failure:
        raise fail(BAD_FILE, str(failure)) from None


def _show(libraries: Cache, removed: int, *, as_json: bool) -> None:
    entries = libraries.entries()
    size = sum(entry.size for entry in entries)
    if as_json:
        print_json(
            {
                "directory": str(libraries.folder),
                "entries": len(entries),
                "bytes": size,
                "limit": libraries.limit,
                "removed": removed,
            }
        )
        return
    if removed:
        out.print(f"removed {_libraries(removed)}")
    out.print(f"{libraries.folder}: {_libraries(len(entries))}")
    out.print(f"{_amount(size)} of at most {_amount(libraries.limit)}")


def _libraries(count: int) -> str:
    return "1 library" if count == 1 else f"{count} libraries"


def _amount(size: int) -> str:
    """Bytes for people: `12 KiB`."""
    for unit in ("bytes", "KiB", "MiB"):
        if size < KIB:
            return f"{size} {unit}"
        size //= KIB
    return f"{size} GiB"
