"""Settings: what decides the findings of a campaign (kept in its directory), and what does not.

| decides the findings (`CampaignSettings`)                      | does not (`RunOptions`)                         |
|--------------------------------------------------------|-------------------------------------------------|
| seed, kinds, aim, implementations, programs of a batch | how long, how many programs, how many processes |
| how many are sanitized, proved; limits of a program    | where they run, how long findings are shrunk    |

Program number n of a campaign has the seed `seed * 2**32 + n`: campaigns with different seeds
share next to no program (Python's generator takes n and m * 2**32 + n for the same seed where n is m + 1).
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT

KINDS = ("functions", "graphs", "schedules", "operators")
# What a part of real TVM does, each a subject (`subjects`).
SUBJECT_KINDS = ("primitives", "passes", "builds", "imports", "torch-imports")
FORMAT = 1
SEEDS = 1 << 32
ATTEMPT = 1 << 96
ANY = "any"


@dataclass(frozen=True)
class CampaignSettings:
    """What decides the findings.

    `implementations` are specs (`reordered_loops.named_implementation`); `SPEC@N`: in one batch of N only. `aim`: a
    code, "" for programs that are defined, `any` for a mixture. One function in `large` is not small, 0: none.
    `sanitize`: one batch of that many is under the sanitizer, 0: none. `prove`: a rewrite of each function in one batch
    of that many is proved, 0: none. `exclude`: what no program has (`exclusions`). `epoch`: after that many batches the
    campaign learns from earlier ones (`avoidance`), 0: never; `prefer`: what a batch of such a campaign draws for.
    `runner` is the function that does a batch: `module:function`; `describe` beside it gives the program of a number as
    data. Units: seconds (for one program, compilation included), MiB of address space of a worker.
    """

    seed: int = 0
    implementations: tuple[str, ...] = ("native:tiny", "moved", "moved:best@32")
    kinds: tuple[str, ...] = ("functions",)
    aim: str = ANY
    size: int = 144
    large: int = 16
    sanitize: int = 4
    program_seconds: float = 30.0
    memory: int = 8192
    runner: str = "refmlc.oracle.fuzz.batch:run_batch"
    prove: int = 0
    exclude: tuple[str, ...] = ()
    epoch: int = 0
    prefer: tuple[str, ...] = ()

    def seed_of(self, number: int, attempt: int = 0) -> int:
        """The seed of program `number`; of a later attempt where the earlier ones are excluded."""
        return self.seed * SEEDS + number + attempt * ATTEMPT

    def kind_of(self, number: int) -> str:
        """The kind of program `number`: the kinds take turns."""
        return self.kinds[number % len(self.kinds)]

    def programs(self, batch: int) -> tuple[int, ...]:
        """The numbers of the programs of batch number `batch`."""
        return tuple(range(batch * self.size, (batch + 1) * self.size))

    def to_json(self) -> dict[str, object]:
        """The settings as data."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @staticmethod
    def from_json(data: Mapping[str, object]) -> "CampaignSettings":
        """The settings from data. Fails: RM111 for what is none."""
        settings = {field.name: field for field in fields(CampaignSettings)}
        if not set(data) <= set(settings):
            raise fail(BAD_INPUT, f"a campaign has no setting `{min(set(data) - set(settings))}`")
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
        for name, value in values.items():
            if not _fits(value, settings[name].default):
                raise fail(BAD_INPUT, f"the setting `{name}` of a campaign is not {value!r}")
        return CampaignSettings(**values)  # type: ignore[arg-type]  # looked at above

    def to_toml(self) -> str:
        """The settings as the text of `campaign.toml`."""
        rows = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in self.to_json().items()]
        return "\n".join([f"format = {FORMAT}", *rows, ""])

    @staticmethod
    def from_toml(text: str) -> "CampaignSettings":
        """The settings in `campaign.toml`. Fails: RM111."""
        try:
            data = tomllib.loads(text)
        except (ValueError, RecursionError) as problem:
            raise fail(BAD_INPUT, f"campaign.toml cannot be read: {problem}") from None
        if data.pop("format", None) != FORMAT:
            raise fail(BAD_INPUT, f"campaign.toml does not have format {FORMAT}: another version of refmlc wrote it")
        return CampaignSettings.from_json(data)

    def differences(self, other: "CampaignSettings") -> list[str]:
        """The settings that differ in `other`, a line each."""
        own_values, other_values = self.to_json(), other.to_json()
        return [
            f"{name}: {own_values[name]} in the campaign, {other_values[name]} here"
            for name in own_values
            if own_values[name] != other_values[name]
        ]


def _fits(value: object, default: object) -> bool:
    """Whether a value has the type of a setting: a list holds words, an integer is a number too."""
    if isinstance(default, tuple):
        return isinstance(value, tuple) and all(isinstance(each, str) for each in value)
    kinds = (int, float) if isinstance(default, float) else type(default)
    return isinstance(value, kinds) and not isinstance(value, bool)


@dataclass(frozen=True)
class RunOptions:
    """What does not decide the findings. Units: seconds; `programs` None: as many as there is time for.

    `shrink`: how long the program of a finding is made smaller, 0: not at all; `most_shrunk` findings at most.
    """

    seconds: float | None = None
    programs: int | None = None
    jobs: int = 1
    scheduler: str | None = None
    shrink: float = 60.0
    most_shrunk: int = 50
