"""Versions of file formats: what a reader takes, and what it says of the rest."""

import pytest

from refmlc.diag import Malformed
from refmlc.diag.versions import FileFormat

TWO = FileFormat("baseline", 3, oldest=2)


@pytest.mark.parametrize("version", [2, 3])
def test_versions_that_are_read(version):
    assert TWO.require({"format": version}, "x.toml") == version


@pytest.mark.parametrize("data", [{}, {"format": "3"}, {"format": True}, {"format": 3.0}])
def test_a_missing_version(data):
    with pytest.raises(Malformed) as caught:
        TWO.require(data, "x.toml")
    message = caught.value.diagnostic.message
    assert message == "`x.toml` has no `format`, a whole number: it is no baseline that refmlc wrote"


@pytest.mark.parametrize(("version", "age"), [(4, "a newer"), (1, "an older"), (-1, "an older")])
def test_another_version(version, age):
    with pytest.raises(Malformed) as caught:
        TWO.require({"format": version}, "x.toml")
    told = caught.value.diagnostic
    assert told.message == f"`x.toml` is version {version} of the format of a baseline: {age} refmlc wrote it"
    assert told.notes == ("this refmlc reads version 2 to 3",)


def test_one_version_is_named_alone():
    with pytest.raises(Malformed) as caught:
        FileFormat("case").require({"format": 2}, "x.toml")
    assert caught.value.diagnostic.notes == ("this refmlc reads version 1",)
