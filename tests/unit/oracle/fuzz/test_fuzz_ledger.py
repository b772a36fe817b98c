"""The ledger of many campaigns: merging is commutative and idempotent, and a file that is no ledger is refused."""

import json
import os
import sqlite3
from dataclasses import replace

import pytest
from hypothesis import given, settings as hypothesis_settings, strategies as st

from refmlc.diag import Malformed
from refmlc.oracle.fuzz.ledger import FORMAT, MERGE, campaign_id, cause_text, opened, rows_of
from refmlc.oracle.fuzz.result import (
    BatchResult,
    FindingRecord,
    cause_of,
    known_row_of,
    like_row_of,
    portable,
    signature,
)
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.store import open_store, progress_in


def finding(number, name="aaaa-1", count=1, **fields):
    record = FindingRecord(
        name, "RM701", "tvm:/a/python", "wrong", "it is 3", number, 70 + number, "functions", {"text": f"p{number}"}
    )
    return replace(record, count=count, **fields)


def batch(number, *findings):
    return BatchResult(number, 8, {"x": {"equal": 7}}, findings=findings)


@pytest.fixture
def campaign(tmp_path):
    """A campaign in a folder, with these batches."""

    def made(name, seed, *batches, shrunk=(), version="0.27"):
        store = open_store(tmp_path / name, CampaignSettings(seed=seed, implementations=("tvm:/a/python",)))
        store.begin({"tvm:/a/python": version}, {})
        for each in batches:
            store.finished(each)
        for name_of_finding, what in shrunk:
            store.shrunk(name_of_finding, what)
        store.close()
        return tmp_path / name

    return made


@pytest.fixture
def merged(tmp_path):
    """The ledger after these campaigns, in order."""

    def made(*folders, name="ledger.sqlite"):
        with opened(tmp_path / name, create=True) as ledger:
            for folder in folders:
                ledger.merge(rows_of(folder))
            return ledger.rows(), ledger.tables()

    return made


def test_a_row_has_what_a_campaign_found(campaign, merged):
    first = batch(0, finding(5, count=2), finding(6, "bbbb", message="as the known row reindex-guarded"))
    (other, row), _ = merged(campaign("one", 3, first, batch(1, finding(9)), shrunk=[("aaaa-1", {"case": {"a": 1}})]))
    assert (row.signature, row.path, row.version, row.code, row.verdict) == ("aaaa", "tvm", "0.27", "RM701", "wrong")
    assert (row.programs, row.number, row.seed, row.campaigns, row.state) == (3, 5, "75", 1, "new")
    assert json.loads(row.program) == {"a": 1}  # the smallest text
    assert (other.signature, other.state) == ("bbbb", "known reindex-guarded")


def test_a_cause_of_two_campaigns_is_earlier_and_what_people_say_counts_first(campaign, merged, tmp_path):
    rows, _ = merged(campaign("one", 3, batch(0, finding(5))), campaign("two", 4, batch(0, finding(2))))
    assert [(row.state, row.number, row.programs, row.campaigns) for row in rows] == [("earlier", 2, 2, 2)]
    with opened(tmp_path / "ledger.sqlite") as ledger:
        assert ledger.causes() == {"aaaa": "earlier"}
        assert ledger.judge("aaaa-1", "filed as 7")
        assert not ledger.judge("cccc", "filed as 8")
        assert ledger.causes() == {"aaaa": "judged filed as 7"}


def test_a_cause_that_looks_like_a_row_says_so_unless_more_is_known(campaign, merged):
    like = finding(5, message="it fails\nit is like the known row r-1")
    (row,), _ = merged(campaign("one", 3, batch(0, like)))
    assert (row.state, row.alike, row.row) == ("like r-1", "r-1", "")
    (row,), _ = merged(campaign("two", 4, batch(0, like)))
    assert row.state == "earlier"


def test_versions_are_rows_of_their_own(campaign, merged):
    rows, _ = merged(campaign("one", 3, batch(0, finding(5))), campaign("two", 4, batch(0, finding(5)), version="0.26"))
    assert [(row.version, row.programs) for row in rows] == [("0.26", 1), ("0.27", 1)]


def test_a_campaign_that_goes_on_is_merged_again(campaign, merged):
    folder = campaign("one", 3, batch(0, finding(5)))
    merged(folder)
    campaign("one", 3, batch(1, finding(9, count=4)))
    rows, tables = merged(folder)
    assert rows[0].programs == 5
    assert merged(folder)[1] == tables


FINDINGS = st.builds(
    finding,
    st.integers(0, 30),
    st.sampled_from(["aaaa-1", "aaaa-2", "bbbb"]),
    st.integers(1, 3),
    message=st.sampled_from(["it is 3", "it is 4", "known row r1 gives this result: x"]),
    case=st.sampled_from([{"text": "p"}, {"text": "q" * 9}, {}]),
)
CAMPAIGNS = st.tuples(st.integers(0, 2), st.lists(st.lists(FINDINGS, max_size=3), max_size=3))


@given(parts=st.lists(CAMPAIGNS, min_size=1, max_size=4), data=st.data())
@hypothesis_settings(max_examples=25, deadline=None)
def test_merging_is_commutative_and_idempotent(tmp_path_factory, parts, data):
    home = tmp_path_factory.mktemp("ledger")
    tables = []
    for number, (seed, batches) in enumerate(parts):
        store = open_store(home / str(number), CampaignSettings(seed=seed))
        for at, findings in enumerate(batches):
            store.finished(batch(at, *findings))
        store.close()
        tables.append(rows_of(home / str(number)))
    again = data.draw(st.permutations([*tables, *data.draw(st.lists(st.sampled_from(tables), max_size=2))]))
    with opened(home / "a", create=True) as one, opened(home / "b", create=True) as other:
        for each in tables:
            one.merge(each)
        for each in again:
            other.merge(each)
        assert one.tables() == other.tables()
        assert one.rows() == other.rows()
        half = len(tables) // 2
        with opened(home / "c", create=True) as left, opened(home / "d", create=True) as right:
            for each in tables[:half]:
                left.merge(each)
            for each in tables[half:]:
                right.merge(each)
            right.merge(left.tables())
            right.merge(left.tables())
            assert right.tables() == one.tables()


# ------------------------------------------------------------------------------------------ hostile files


def refused(path, *, create=True):
    with pytest.raises(Malformed) as caught, opened(path, create=create):
        pass
    assert caught.value.code.id == "RM109"
    return caught.value.diagnostic.message


def test_what_is_no_ledger_is_refused(tmp_path):
    (tmp_path / "rubbish").write_bytes(b"not a database " * 100)
    assert "file is not a database" in refused(tmp_path / "rubbish")
    assert (tmp_path / "rubbish").read_bytes() == b"not a database " * 100
    with sqlite3.connect(tmp_path / "other") as connection:
        connection.execute("CREATE TABLE notes (words TEXT)")
    assert "is no ledger of refmlc" in refused(tmp_path / "other")
    (tmp_path / "link").symlink_to(tmp_path / "ledger")
    assert "is a link" in refused(tmp_path / "link")
    os.mkfifo(tmp_path / "pipe")
    assert "is a link, a folder or a device" in refused(tmp_path / "pipe")
    assert "is a link, a folder or a device" in refused(tmp_path)
    assert "no such file" in refused(tmp_path / "absent", create=False)
    assert "unable to open" in refused(tmp_path / "no folder" / "ledger")
    (tmp_path / "empty").touch()
    assert "is no ledger" in refused(tmp_path / "empty", create=False)


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        (f"PRAGMA user_version = {FORMAT + 1}", f"format {FORMAT + 1}, this version of refmlc reads format {FORMAT}"),
        ("CREATE TRIGGER t AFTER INSERT ON seen BEGIN DELETE FROM campaign; END", "other tables"),
        ("CREATE VIEW v AS SELECT * FROM seen", "other tables"),
        ("DROP TABLE judgement", "other tables"),
    ],
)
def test_a_ledger_with_another_schema_is_refused(tmp_path, statement, told):
    with opened(tmp_path / "ledger", create=True):
        pass
    with sqlite3.connect(tmp_path / "ledger") as connection:
        connection.execute(statement)
    assert told in refused(tmp_path / "ledger")


def test_a_ledger_that_is_cut_off_is_refused(tmp_path, campaign):
    with opened(tmp_path / "ledger", create=True) as ledger:
        ledger.merge(rows_of(campaign("one", 3, batch(0, finding(5)))))
    data = (tmp_path / "ledger").read_bytes()
    (tmp_path / "ledger").write_bytes(data[: len(data) // 2])
    with pytest.raises(Malformed, match="cannot be used as a ledger"), opened(tmp_path / "ledger") as ledger:
        ledger.rows()


def test_a_program_that_is_no_json_is_refused(tmp_path, campaign):
    with opened(tmp_path / "ledger", create=True) as ledger:
        ledger.merge(rows_of(campaign("one", 3, batch(0, finding(5)))))
        ledger.merge({"smallest": [("aaaa", "tvm", "0.27", "{", "")]})
        with pytest.raises(Malformed, match="not JSON"):
            ledger.rows()


def test_a_merge_that_fails_leaves_nothing(tmp_path):
    with opened(tmp_path / "ledger", create=True) as ledger:
        with pytest.raises(Malformed, match="cannot be used"):
            ledger.merge({"campaign": [("a", "1", "{}")], "seen": [("a", "b", "c", "d", "not a number", 1)]})
        assert ledger.tables() == {table: [] for table in MERGE}


def test_a_folder_without_a_campaign_is_refused(tmp_path):
    with pytest.raises(Malformed, match="has no campaign"):
        rows_of(tmp_path)


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"batch": 3},
        {"batch": {"batch": 0}},
        {"shrunk": 3, "what": {}},
        {"epoch": "one", "exclude": []},
        {"batch": batch(0).to_json() | {"verdicts": {"x": {"equal": "many"}}}},
        {"batch": batch(0, finding(1, "../../evil")).to_json()},
        {"batch": batch(0, replace(finding(1), number="1")).to_json()},
    ],
)
def test_a_hostile_journal_is_refused_with_one_message(tmp_path, campaign, entry):
    folder = campaign("one", 3, batch(0, finding(5)))
    with (folder / "journal.jsonl").open("a") as journal:
        journal.write(json.dumps(entry) + "\n")
    with pytest.raises(Malformed) as caught:
        rows_of(folder)
    assert caught.value.code.id == "RM111"
    with pytest.raises(Malformed):
        open_store(folder, CampaignSettings.from_toml((folder / "campaign.toml").read_text()))
    assert not list(tmp_path.glob("**/evil*"))


# ------------------------------------------------------------------------------------------------ names


def test_a_cause_has_one_name_on_every_machine():
    here, there = (signature("m", "RM701", f"tvm:{place}/bin/python,opt=0") for place in ("/a", "/b"))
    assert here != there
    assert cause_of(here) == cause_of(there)
    assert cause_of(here) != cause_of(signature("m", "RM701", "tvm:/a/bin/python,opt=1"))
    assert signature("m", "RM701", "native:tiny") == cause_of(signature("m", "RM701", "native:tiny"))


def test_names_of_implementations_lose_their_folders():
    assert portable("tvm:/a/b/python") == "tvm"
    assert portable("tvm:/a/b/python,target=c,opt=0") == "tvm,target=c,opt=0"
    assert portable("cmd:/a/b/mine /c/d.py --x") == "cmd:mine d.py --x"
    assert portable("native:tiny") == "native:tiny"


def test_a_campaign_is_the_same_on_every_machine():
    one, other = (CampaignSettings(seed=1, implementations=(f"tvm:{place}/python",)) for place in ("/a", "/b"))
    assert campaign_id(one) == campaign_id(other) != campaign_id(replace(one, seed=2))


def test_known_rows_are_read_from_lines_only():
    assert known_row_of(finding(1, message="x\nknown row a, b gives this result: t")) == "a, b"
    assert known_row_of(finding(1, message="`s` is wrong: m\nas the known row r-1")) == "r-1"
    assert known_row_of(finding(1, message="it is as the known row r-1")) == ""


def test_what_is_said_of_the_smaller_program_counts_first(campaign, merged):
    first = finding(1, message="m\nit is like the known row r-1")
    other = finding(2, "bbbb-1", message="m")
    small = {"message": "m\nit is like the known row r-2"}
    assert like_row_of(first) == like_row_of(first, {"message": "m"}) == "r-1"
    assert like_row_of(first, small) == like_row_of(other, small) == "r-2"
    assert known_row_of(other, {"message": "`s` is wrong: m\nas the known row r-3"}) == "r-3"
    folder = campaign("a", 1, batch(0, first, other), shrunk=[("bbbb-1", small)])
    progress = progress_in(folder)
    assert [progress.state(name) for name in ("aaaa-1", "bbbb-1")] == ["like r-1", "like r-2"]
    assert {row.signature: row.state for row in merged(folder)[0]} == {"aaaa": "like r-1", "bbbb": "like r-2"}


def test_causes_in_words():
    wrong = finding(1, cause="exp, tan: float sign")
    assert cause_text(wrong, {}) == "wrong: exp, tan: float sign"
    assert cause_text(wrong, {"cause": "exp: float sign"}) == "wrong: exp: float sign"
    failure = finding(1, code="RM708", verdict="compiler error", message="it fails\nCheck failed: 3 is not `x`")
    assert cause_text(failure, {}) == "compiler error: Check failed: # is not _"
    step = finding(1, case={"steps": ["annotate('B')", "split('B', 0)"]}, verdict="undefined", code="RM705")
    assert cause_text(step, {}) == "split: undefined"
    assert cause_text(replace(step, message="the program after is not: RM304: no"), {}) == "split: undefined RM304"
