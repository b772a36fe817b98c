"""The work of `refmlc fuzz`: run a campaign, with its settings, screen and summary."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from rich.live import Live

from refmlc.cli.console import err, out, print_json
from refmlc.cli.fuzz_page import page_writer
from refmlc.cli.fuzz_screen import Lines, figures, screen, summary
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.oracle.fuzz.avoidance import EPOCH
from refmlc.oracle.fuzz.batch import spec_and_interval
from refmlc.oracle.fuzz.campaign import AHEAD, Campaign
from refmlc.oracle.fuzz.exclusions import TRAITS, known_names
from refmlc.oracle.fuzz.ledger import opened, rows_of
from refmlc.oracle.fuzz.reordered_loops import named_implementation
from refmlc.oracle.fuzz.settings import ANY, CampaignSettings, RunOptions
from refmlc.oracle.fuzz.store import SETTINGS, open_store, settings_in
from refmlc.oracle.fuzz.subjects.primitives import staged
from refmlc.oracle.fuzz.subjects.table import SUBJECTS
from refmlc.oracle.implementations.implementation import Implementation
from refmlc.oracle.implementations.lookup import refuse, trusted
from refmlc.strategies.aims import MODULE_AIMS, THREAD_AIMS
from refmlc.strategies.functions import AIMS

REFRESH = 4  # times a second
CLUSTER = 32  # workers, about
PROCESSES = ("tvm:", "cmd:")  # programs of others
FEW, FEWEST = 16, 4  # programs of a batch where one of these executes it, and where many do


@dataclass(frozen=True)
class CampaignFiles:
    """Files besides the folder: a ledger, which is read first, and the campaign's page."""

    ledger: Path | None = None
    page: Path | None = None


def run_campaign(
    path: Path,
    options: Mapping[str, object],
    ways: RunOptions,
    *,
    trust: bool,
    as_json: bool,
    files: CampaignFiles,
) -> None:
    """Run the campaign in `path`, with the settings in `options`. Exits with status 1 for findings."""
    started = time.monotonic()  # implementations that start take of the time
    settings = _settings(path, options, moves_away=files.ledger is not None, ways=ways)
    _trusted(path, settings, options, trust=trust)
    write_page = None if files.page is None else page_writer()  # a missing extra is reported first
    causes = _causes(files.ledger)
    versions = _check(settings)
    with closing(open_store(path, settings)) as store:
        store.begin(versions, causes)
        campaign = Campaign(store, ways, started=started)
        try:
            with _progress_display(campaign) as tick:
                campaign.tick = tick
                campaign.run()
        except KeyboardInterrupt:
            err.print("interrupted: the campaign is saved, and the same command continues it")
        if campaign.cut:
            err.print(f"{campaign.cut} batches did not end in time and do not count: the same command does them first")
        if as_json:
            print_json(figures(campaign))
        else:
            for part in summary(campaign):
                out.print(part)
        has_findings = bool(store.progress.findings)
    if files.ledger is not None:
        with opened(files.ledger, create=True) as ledger:
            ledger.merge(rows_of(path))
    if write_page is not None and files.page is not None:
        write_page(store.progress, files.page)
    if has_findings:
        raise SystemExit(1)


def _settings(path: Path, options: Mapping[str, object], *, moves_away: bool, ways: RunOptions) -> CampaignSettings:
    """The saved settings of the campaign in `path`, with `options`; the store refuses differences.

    The epochs of a new campaign that moves away are long enough for all its workers.
    """
    saved = settings_in(path)
    if saved is None:
        workers = ways.jobs if ways.scheduler is None else CLUSTER
        epoch = max(EPOCH, AHEAD * workers) if moves_away else 0
        saved = CampaignSettings(epoch=epoch, size=_size(options))
    elif moves_away and not saved.epoch:
        raise fail(BAD_USAGE, f"the campaign in {path} began without a ledger: `fuzz merge` adds its findings to one")
    return CampaignSettings.from_json({**saved.to_json(), **options})


def _size(options: Mapping[str, object]) -> int:
    """The programs of a batch: few where programs of others execute them, so that findings are seen as they come.

    Fewer where several programs of others do, for each takes its time: a batch is lost that does not end in time.
    """
    specs, kinds = (cast("Sequence[str]", options.get(name, ())) for name in ("implementations", "kinds"))
    others = sum(spec.startswith(PROCESSES) for spec in specs)
    slow = others or not SUBJECTS.keys().isdisjoint(kinds)
    return max(FEWEST, FEW // max(1, others)) if slow else CampaignSettings.size


def _causes(ledger: Path | None) -> Mapping[str, str]:
    """The causes in the ledger, which is made if it is not there. Fails: RM109."""
    if ledger is None:
        return {}
    with opened(ledger, create=True) as book:
        return book.causes()


def _trusted(path: Path, settings: CampaignSettings, options: Mapping[str, object], *, trust: bool) -> None:
    """Fails: RM112 if the folder, not the command, names external programs or functions."""
    file = path / SETTINGS
    if "implementations" not in options:
        trusted(settings.implementations, file, trust=trust)
    if settings.runner != CampaignSettings.runner and not trust:
        action = f"import and call a function of Python: {settings.runner}"
        refuse(file, settings.runner, action, "another `--dir` begins a campaign")


def _check(settings: CampaignSettings) -> Mapping[str, str]:
    """The versions of the implementations. Fails: RM112 for unknown implementations, exclusions and aims."""
    subjects = [kind for kind in settings.kinds if kind in SUBJECTS]
    if subjects and not staged.python_of(settings):
        raise fail(BAD_USAGE, f"programs of the kind `{subjects[0]}` need real TVM", None, "--impl tvm:PYTHON")
    own_names = {name for kind in subjects for name in SUBJECTS[kind].names}
    unknown = sorted({*settings.exclude} - {*known_names(), *own_names})
    if unknown:
        message = f"nothing is called `{unknown[0]}` that programs could be without"
        raise fail(BAD_USAGE, message, None, f"there are dtypes, operators, and {', '.join(TRAITS)}")
    aims = sorted((*AIMS, *MODULE_AIMS, *THREAD_AIMS))
    if settings.aim not in ("", ANY, *aims):
        raise fail(BAD_USAGE, f"no program aims at `{settings.aim}`; there are none, any, {', '.join(aims)}")
    with ThreadPoolExecutor() as pool:  # services take seconds to start, each
        named = pool.map(_name_and_version, settings.implementations)
        return {name: version for name, version in named if version}


def _name_and_version(spec: str) -> tuple[str, str]:
    """The name of an implementation, and the version that it says it has. Fails: RM112 where there is none."""
    with closing(named_implementation(spec_and_interval(spec)[0])) as implementation:
        return implementation.name, version_of(implementation)


def version_of(implementation: Implementation) -> str:
    """The version that an implementation says it has; empty: it says none."""
    says = getattr(implementation, "says", {})
    words = str(says.get("name", "")).split() if isinstance(says, Mapping) else []
    return str(says.get("version") or (words[1] if len(words) > 1 else "")) if words else ""


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
