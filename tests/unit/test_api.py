"""The public names: each is there, and nothing else is."""

import subprocess
import sys

import pytest

import refmlc


@pytest.mark.parametrize("name", refmlc.__all__)
def test_each_name_is_there(name):
    assert getattr(refmlc, name).__name__ == name


def test_the_names_that_are_listed_are_those_that_load():
    assert sorted(refmlc.__all__) == dir(refmlc)


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'frobnicate'"):
        _ = refmlc.frobnicate


def test_importing_is_quick_and_brings_no_test_tools():
    code = (
        "import sys, time; a = time.process_time(); import refmlc; b = time.process_time(); print(b - a, *sys.modules)"
    )
    best = 1.0
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        seconds, *modules = done.stdout.split()
        best = min(best, float(seconds))
        assert not {"hypothesis", "pytest", "tvm", "torch"} & set(modules)
    assert best < 0.150


@pytest.mark.parametrize(("name", "code"), [("a\0b", "RM109"), (".", "RM109"), ("/dev/zero", "RM604")])
def test_what_is_no_file_of_text_is_one_finding(name, code):
    with pytest.raises(refmlc.RefmlcError) as caught:
        refmlc.read_file(name)
    assert caught.value.code.id == code
