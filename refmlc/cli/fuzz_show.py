"""`refmlc fuzz --show coverage`: what a campaign covered, and what it did not, by name."""

from pathlib import Path

from refmlc.cli.console import out, print_json
from refmlc.oracle.fuzz.coverage_report import coverage_of
from refmlc.oracle.fuzz.store import campaign_entries


def show_coverage(path: Path, *, as_json: bool) -> None:
    """Show the coverage of the campaign in `path`. Fails: RM109, RM111."""
    _, progress, _ = campaign_entries(path)
    families = coverage_of(progress)
    if as_json:
        rows = {name: family.to_json() for name, family in families.items()}
        print_json({"directory": str(path), "programs": progress.programs, "coverage": rows})
        return
    out.print(f"{progress.programs:,} programs")
    for name, family in families.items():
        out.print(f"{name}: {len(family.covered)} of {family.count}")
        if family.missing:
            out.print(f"  not covered: {', '.join(family.missing)}")
        if family.excluded:
            out.print(f"  left out: {', '.join(family.excluded)}")
