"""What decides the findings of a campaign is kept, and is compared."""

import pytest

from refmlc.diag import Malformed
from refmlc.oracle.fuzz.settings import CampaignSettings


def test_settings_survive_their_file():
    settings = CampaignSettings(7, ("native", 'cmd:sh -c "a\\b"'), ("functions", "graphs"), "RM304", 5, 0, 2, 1.5, 100)
    assert CampaignSettings.from_toml(settings.to_toml()) == settings


def test_campaigns_of_different_seeds_share_no_program():
    few = range(1000)
    assert not {CampaignSettings(0).seed_of(one) for one in few} & {CampaignSettings(1).seed_of(one) for one in few}


def test_batches_cut_the_numbers_without_gap():
    settings = CampaignSettings(size=3)
    assert [number for batch in range(4) for number in settings.programs(batch)] == list(range(12))


def test_kinds_take_turns():
    settings = CampaignSettings(kinds=("functions", "graphs"))
    assert [settings.kind_of(number) for number in range(4)] == ["functions", "graphs", "functions", "graphs"]


def test_differences_are_named():
    assert CampaignSettings(seed=1).differences(CampaignSettings(seed=2, size=5)) == [
        "seed: 1 in the campaign, 2 here",
        f"size: {CampaignSettings().size} in the campaign, 5 here",
    ]


@pytest.mark.parametrize("text", ["seed = ", "format = 99", "format = 1\nspeed = 3"])
def test_a_file_that_is_none_is_refused(text):
    with pytest.raises(Malformed) as caught:
        CampaignSettings.from_toml(text)
    assert caught.value.code.id == "RM111"
