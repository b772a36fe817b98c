"""The directory of a campaign: one process at a time, one set of settings, counts and findings as in the journal."""

import tomllib

import pytest

from refmlc.diag import Malformed
from refmlc.oracle.fuzz.result import BatchResult, FindingRecord
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.store import open_store, progress_in, settings_in


def found(number, signature="s1", count=1):
    case = {"text": f"program\n{number} '''quoted'''", "calls": [[{"dtype": "int8", "seed": number}]]}
    return FindingRecord(
        signature, "RM701", "native", "wrong", "it is 3", number, 70 + number, "functions", case, count
    )


def batch(number, *findings):
    return BatchResult(number, 8, {"native": {"equal": 7}}, {"kinds": ("For",)}, findings, {"odd": 1}, 0.5, 100, "w")


@pytest.fixture
def reopened(tmp_path):
    stores = []

    def opened(settings=None):
        if stores:
            stores.pop().close()
        stores.append(open_store(tmp_path, settings or CampaignSettings(seed=3)))
        return stores[-1]

    yield opened
    stores.pop().close()


def test_what_was_finished_is_there_again(reopened, tmp_path):
    store = reopened()
    store.finished(batch(0, found(5)))
    store.finished(batch(2, found(20, "s2"), found(21)))
    store.shrunk("s2", {"case": {"text": "small"}})
    before = store.progress.to_json()
    store = reopened()
    assert store.progress.to_json() == before == progress_in(tmp_path).to_json()
    assert store.progress.done == {0, 2}
    assert store.progress.programs == 16
    assert [(one.signature, one.number, one.count) for one in store.progress.findings.values()] == [
        ("s1", 5, 2),
        ("s2", 20, 1),
    ]
    assert settings_in(tmp_path) == CampaignSettings(seed=3)


def test_the_least_number_stands_for_all_in_whatever_order_they_come(reopened):
    store = reopened()
    store.finished(batch(3, found(30)))
    store.finished(batch(1, found(10)))
    assert store.progress.findings["s1"] == found(10, count=2)


def test_a_batch_counts_once(reopened):
    store = reopened()
    store.finished(batch(1, found(10)))
    store.finished(batch(1, found(10)))
    assert reopened().progress.programs == 8
    assert reopened().progress.findings["s1"].count == 1


def test_findings_are_files_and_are_made_again(reopened, tmp_path):
    store = reopened()
    store.finished(batch(0, found(5)))
    file = tmp_path / "findings" / "s1.toml"
    text = file.read_text(encoding="utf-8")
    assert tomllib.loads(text)["case"] == dict(found(5).case)
    assert (tomllib.loads(text)["seed"], tomllib.loads(text)["count"]) == (75, 1)
    file.unlink()
    reopened()
    assert file.read_text(encoding="utf-8") == text


def test_a_finding_made_smaller_shows_the_small_program(reopened, tmp_path):
    store = reopened()
    store.finished(batch(0, found(5)))
    store.shrunk("s1", {"case": {"text": "tiny"}})
    data = tomllib.loads((tmp_path / "findings" / "s1.toml").read_text(encoding="utf-8"))
    assert data["case"] == {"text": "tiny"}
    assert data["first"] == dict(found(5).case)


def test_two_campaigns_do_not_share_a_directory(reopened, tmp_path):
    reopened()
    with pytest.raises(Malformed, match="another process"):
        open_store(tmp_path, CampaignSettings(seed=3))


def test_other_settings_are_refused(tmp_path):
    open_store(tmp_path, CampaignSettings(seed=3)).close()
    with pytest.raises(Malformed, match=r"other settings \(seed: 3 in the campaign, 4 here\)"):
        open_store(tmp_path, CampaignSettings(seed=4))
    open_store(tmp_path, CampaignSettings(seed=3)).close()


def test_what_is_left_skips_what_is_done(reopened):
    store = reopened()
    store.finished(batch(1))
    size = store.settings.size
    assert list(store.progress.remaining(4 * size)) == [0, 2, 3]
    assert list(store.progress.remaining(size + 1)) == [0]
