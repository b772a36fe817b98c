"""A journal holds what was appended, whatever part of its end is missing."""

import pytest
from hypothesis import given, strategies as st

from refmlc.diag import Malformed
from refmlc.oracle.fuzz.store import Journal, read_entries

ENTRIES = [{"batch": 1}, {"batch": 2, "text": "a\nb ü"}, {"shrunk": "x", "what": {}}]


def written(path, entries):
    journal = Journal(path)
    for entry in entries:
        journal.append(entry)
    journal.close()


def test_what_is_appended_is_there(tmp_path):
    written(tmp_path / "j", ENTRIES[:2])
    written(tmp_path / "j", ENTRIES[2:])
    assert read_entries(tmp_path / "j") == (ENTRIES, (tmp_path / "j").stat().st_size)


@given(data=st.data())
def test_a_torn_end_costs_only_the_torn_line(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("journal") / "j"
    written(path, ENTRIES)
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    kept = whole[:cut].count(b"\n")
    journal = Journal(path)
    assert journal.entries == ENTRIES[:kept]
    journal.append({"batch": 9})
    journal.close()
    assert read_entries(path)[0] == [*ENTRIES[:kept], {"batch": 9}]


def test_damage_before_the_end_is_said_and_nothing_is_changed(tmp_path):
    path = tmp_path / "j"
    path.write_bytes(b'{"batch": 1}\n{"bat\n{"batch": 3}\n')
    with pytest.raises(Malformed, match="line 2 is damaged"):
        Journal(path)
    assert path.read_bytes() == b'{"batch": 1}\n{"bat\n{"batch": 3}\n'
