import pytest

from refmlc.diag import Malformed
from refmlc.lang.spec import clause, clauses, read_clauses

GOOD = '[[clause]]\nid = "TIR-900"\ntitle = "T"\ntext = "It means this."\n'


def problem(tmp_path, text):
    file = tmp_path / "tir-x.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(Malformed) as raised:
        read_clauses(file)
    assert raised.value.code.id == "RM109"
    return raised.value.diagnostic.message


def test_all_fields_are_read(tmp_path):
    file = tmp_path / "tir-x.toml"
    more = 'undefined = ["RM315: the extent is negative"]\nexact = "bits"\ndecision = "D."\nsource = "S"\n'
    file.write_text(GOOD + more, encoding="utf-8")
    (row,) = read_clauses(file)
    assert (row.id, row.title, row.text, row.file) == ("TIR-900", "T", "It means this.", "tir-x.toml")
    assert row.undefined == ("RM315: the extent is negative",)
    assert (row.exact, row.decision, row.source) == ("bits", "D.", "S")


def test_a_file_without_clauses_is_empty(tmp_path):
    (tmp_path / "a.toml").write_text("", encoding="utf-8")
    assert read_clauses(tmp_path / "a.toml") == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[clause", "is not TOML"),
        ("other = 1\n" + GOOD, "only [[clause]]"),
        ("clause = 1", "only [[clause]]"),
        (GOOD.replace("TIR-900", "TIR-9"), "id 'TIR-9'"),
        ("[[clause]]\nid = 3\n", "id 3"),
        ('[[clause]]\ntitle = "x"\n', "id ''"),
        (GOOD.replace('title = "T"\n', ""), "`title` is missing"),
        (GOOD.replace('"T"', '" "'), "`title` is unknown, empty or not a string"),
        (GOOD + "exact = 3\n", "`exact` is unknown, empty or not a string"),
        (GOOD + 'colour = "red"\n', "`colour` is unknown"),
        (GOOD + 'undefined = "RM315: x"\n', "`undefined` is a list"),
        (GOOD + 'undefined = ["RM999: x"]\n', "`undefined` is a list"),
        (GOOD + 'undefined = ["RM315 x"]\n', "`undefined` is a list"),
        (GOOD + "undefined = [3]\n", "`undefined` is a list"),
    ],
)
def test_what_breaks_the_form_is_named(tmp_path, text, says):
    assert says in problem(tmp_path, text)


def test_clauses_are_found_by_id_in_order():
    names = list(clauses())
    assert names == sorted(names)
    assert names
    assert clause(names[0].lower()) is clauses()[names[0]]


def test_unknown_clause_is_refused():
    with pytest.raises(Malformed) as raised:
        clause("TIR-000")
    assert raised.value.code.id == "RM112"


def test_an_id_given_twice_is_refused(tmp_path, monkeypatch):
    data = tmp_path / "data"
    data.mkdir()
    for name in ("a.toml", "b.toml", "notes.md"):
        (data / name).write_text(GOOD, encoding="utf-8")
    monkeypatch.setattr("refmlc.lang.spec.loader.files", lambda _package: tmp_path)
    clauses.cache_clear()
    try:
        with pytest.raises(Malformed, match=r"TIR-900 is in a\.toml and in b\.toml"):
            clauses()
    finally:
        clauses.cache_clear()
