"""The command `refmlc`: one file per subcommand; they only read arguments, call the library and render."""

import click

from refmlc.cli.bench import bench
from refmlc.cli.cache import cache
from refmlc.cli.check import check
from refmlc.cli.conform import conform
from refmlc.cli.console import GuardedGroup
from refmlc.cli.course import course
from refmlc.cli.dap import dap
from refmlc.cli.debug import debug
from refmlc.cli.demo import demo
from refmlc.cli.explain import explain
from refmlc.cli.fuzz import fuzz
from refmlc.cli.import_ import import_command
from refmlc.cli.native import native
from refmlc.cli.passes import passes
from refmlc.cli.reduce import reduce_command
from refmlc.cli.replay import replay
from refmlc.cli.run import run
from refmlc.cli.show import show
from refmlc.cli.spec import spec
from refmlc.cli.trace import trace
from refmlc.cli.why import why_command


@click.group(cls=GuardedGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="refmlc")
def main() -> None:
    """Read, show, check and run TVM IRModules, exactly per their semantics.

    Exit status: 0 ok, 1 a finding, 2 bad usage or input, 3 unsupported, 4 a budget is used up, 70 a bug in refmlc.
    """


for command in (
    check,
    show,
    run,
    explain,
    spec,
    demo,
    course,
    native,
    bench,
    cache,
    fuzz,
    conform,
    why_command,
    reduce_command,
    replay,
    passes,
    debug,
    trace,
    dap,
    import_command,
):
    main.add_command(command)
