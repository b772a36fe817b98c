"""A campaign, run from the command line: its settings, its screen, its summary."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from rich.live import Live

from refmlc.cli.console import err, out, print_json
from refmlc.cli.fuzz_screen import Lines, figures, screen, summary
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.oracle.fuzz.batch import every
from refmlc.oracle.fuzz.campaign import Campaign
from refmlc.oracle.fuzz.reordered_loops import made
from refmlc.oracle.fuzz.settings import ANY, RunOptions, Settings
from refmlc.oracle.fuzz.store import SETTINGS, open_store, settings_in
from refmlc.oracle.implementations.trust import refuse, trusted
from refmlc.strategies.aims import MODULE_AIMS, THREAD_AIMS
from refmlc.strategies.functions import AIMS

REFRESH = 4  # times a second


def run_campaign(path: Path, asked: Mapping[str, object], ways: RunOptions, *, trust: bool, as_json: bool) -> None:
    """Run the campaign in `path`, with the settings in `asked`. Exits with status 1 for findings."""
    settings = _settings(path, asked)
    _trusted(path, settings, asked, trust=trust)
    _check(settings)
    with closing(open_store(path, settings)) as store:
        campaign = Campaign(store, ways)
        try:
            with _shown(campaign) as tick:
                campaign.tick = tick
                campaign.run()
        except KeyboardInterrupt:
            err.print("interrupted: what was done is kept, the same command goes on")
        if as_json:
            print_json(figures(campaign))
        else:
            for part in summary(campaign):
                out.print(part)
        found = bool(store.progress.findings)
    if found:
        raise SystemExit(1)


def _settings(path: Path, asked: Mapping[str, object]) -> Settings:
    """The settings of the campaign in `path`, with those asked for: where they differ, the store refuses them."""
    there = settings_in(path) or Settings()
    return Settings.from_json({**there.to_json(), **asked})


def _trusted(path: Path, settings: Settings, asked: Mapping[str, object], *, trust: bool) -> None:
    """Fails: RM112 where the directory, and not the command, names programs or functions that are not refmlc's own."""
    file = path / SETTINGS
    if "implementations" not in asked:
        trusted(settings.implementations, file, trust=trust)
    if settings.runner != Settings.runner and not trust:
        started = f"import and call a function of Python: {settings.runner}"
        refuse(file, settings.runner, started, "another `--dir` begins a campaign")


def _check(settings: Settings) -> None:
    """Fails: RM112 for implementations and aims that are none."""
    for spec in settings.implementations:
        made(every(spec)[0]).close()
    aims = sorted((*AIMS, *MODULE_AIMS, *THREAD_AIMS))
    if settings.aim not in ("", ANY, *aims):
        raise fail(BAD_USAGE, f"no program aims at `{settings.aim}`; there are none, any, {', '.join(aims)}")


@contextmanager
def _shown(campaign: Campaign) -> Iterator[Callable[[], None]]:
    """The function that shows the progress: a screen on a terminal, lines elsewhere."""
    if err.is_terminal:
        with Live(console=err, refresh_per_second=REFRESH, transient=True) as live:
            yield lambda: live.update(screen(campaign))
        return
    lines = Lines()

    def tick() -> None:
        for line in lines.due(campaign):
            err.print(line)

    yield tick
    tick()
