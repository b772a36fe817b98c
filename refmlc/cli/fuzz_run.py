"""The work of `refmlc fuzz`: run a campaign, with its settings, screen and summary."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from rich.live import Live

from refmlc.cli.console import err, out, print_json
from refmlc.cli.fuzz_screen import Lines, figures, screen, summary
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.oracle.fuzz import staged
from refmlc.oracle.fuzz.batch import spec_and_interval
from refmlc.oracle.fuzz.campaign import Campaign
from refmlc.oracle.fuzz.exclusions import TRAITS, known_names
from refmlc.oracle.fuzz.reordered_loops import named_implementation
from refmlc.oracle.fuzz.settings import ANY, CampaignSettings, RunOptions
from refmlc.oracle.fuzz.store import SETTINGS, open_store, settings_in
from refmlc.oracle.fuzz.subjects import SUBJECTS
from refmlc.oracle.implementations.lookup import refuse, trusted
from refmlc.strategies.aims import MODULE_AIMS, THREAD_AIMS
from refmlc.strategies.functions import AIMS

REFRESH = 4  # times a second


def run_campaign(path: Path, options: Mapping[str, object], ways: RunOptions, *, trust: bool, as_json: bool) -> None:
    """Run the campaign in `path`, with the settings in `options`. Exits with status 1 for findings."""
    settings = _settings(path, options)
    _trusted(path, settings, options, trust=trust)
    _check(settings)
    with closing(open_store(path, settings)) as store:
        campaign = Campaign(store, ways)
        try:
            with _progress_display(campaign) as tick:
                campaign.tick = tick
                campaign.run()
        except KeyboardInterrupt:
            err.print("interrupted: the campaign is saved, and the same command continues it")
        if as_json:
            print_json(figures(campaign))
        else:
            for part in summary(campaign):
                out.print(part)
        has_findings = bool(store.progress.findings)
    if has_findings:
        raise SystemExit(1)


def _settings(path: Path, options: Mapping[str, object]) -> CampaignSettings:
    """The saved settings of the campaign in `path`, with `options`; the store refuses differences."""
    saved = settings_in(path) or CampaignSettings()
    return CampaignSettings.from_json({**saved.to_json(), **options})


def _trusted(path: Path, settings: CampaignSettings, options: Mapping[str, object], *, trust: bool) -> None:
    """Fails: RM112 if the folder, not the command, names external programs or functions."""
    file = path / SETTINGS
    if "implementations" not in options:
        trusted(settings.implementations, file, trust=trust)
    if settings.runner != CampaignSettings.runner and not trust:
        action = f"import and call a function of Python: {settings.runner}"
        refuse(file, settings.runner, action, "another `--dir` begins a campaign")


def _check(settings: CampaignSettings) -> None:
    """Fails: RM112 for unknown implementations, exclusions and aims."""
    subjects = [kind for kind in settings.kinds if kind in SUBJECTS]
    if subjects and not staged.python_of(settings):
        raise fail(BAD_USAGE, f"programs of the kind `{subjects[0]}` need real TVM", None, "--impl tvm:PYTHON")
    own_names = {name for kind in subjects for name in SUBJECTS[kind].names}
    unknown = sorted({*settings.exclude} - {*known_names(), *own_names})
    if unknown:
        message = f"nothing is called `{unknown[0]}` that programs could be without"
        raise fail(BAD_USAGE, message, None, f"there are dtypes, operators, and {', '.join(TRAITS)}")
    for spec in settings.implementations:
        named_implementation(spec_and_interval(spec)[0]).close()
    aims = sorted((*AIMS, *MODULE_AIMS, *THREAD_AIMS))
    if settings.aim not in ("", ANY, *aims):
        raise fail(BAD_USAGE, f"no program aims at `{settings.aim}`; there are none, any, {', '.join(aims)}")


@contextmanager
def _progress_display(campaign: Campaign) -> Iterator[Callable[[], None]]:
    """The function that shows the progress: a screen on a terminal, lines elsewhere."""
    if err.is_terminal:
        with Live(console=err, refresh_per_second=REFRESH, transient=True) as live:
            yield lambda: live.update(screen(campaign))
        return
    lines = Lines()

    def tick() -> None:
        for line in lines.pending(campaign):
            err.print(line)

    yield tick
    tick()
