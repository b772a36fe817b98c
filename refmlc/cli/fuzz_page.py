"""`refmlc fuzz page`: a campaign as one HTML page; and the page that `refmlc fuzz --page` writes."""

from collections.abc import Callable
from pathlib import Path

import click

from refmlc.cli.console import err, print_json
from refmlc.cli.options import PATH, json_option
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.oracle.fuzz.result import Progress
from refmlc.oracle.fuzz.store import campaign_entries


@click.command(epilog="Example: refmlc fuzz page campaign -o campaign.html")
@click.argument("folder", type=PATH)
@click.option("-o", "--output", type=PATH, required=True, help="Write the page here (extra `report`).")
@json_option
def page(*, folder: Path, output: Path, as_json: bool) -> None:
    """Write the page of the campaign in FOLDER: figures, verdicts, findings by cause, and the curve of new causes."""
    write = page_writer()
    _, progress, _ = campaign_entries(folder)
    write(progress, output)
    if as_json:
        print_json({"page": str(output), "programs": progress.programs, "findings": len(progress.findings)})
    else:
        err.print(f"{output}", style="dim")


def page_writer() -> Callable[[Progress, Path], None]:
    """The function that writes the page. Fails: RM112 without the extra, before anything runs."""
    try:
        from refmlc.oracle.fuzz.page import write_campaign_page  # noqa: PLC0415 - needs an extra, as others do not
    except ModuleNotFoundError as problem:
        raise fail(BAD_USAGE, f"a page needs {problem.name}: pip install 'refmlc[report]'") from None
    return write_campaign_page
