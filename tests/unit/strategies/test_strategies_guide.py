"""The examples in the guide run."""

import doctest

import refmlc.strategies


def test_the_examples_of_the_guide_run():
    names = {name: getattr(refmlc.strategies, name) for name in refmlc.strategies.__all__}
    found = doctest.testmod(refmlc.strategies, extraglobs=names)
    assert found.attempted > 10
    assert found.failed == 0


def test_every_name_is_there():
    assert sorted(refmlc.strategies.__all__) == dir(refmlc.strategies)
    assert all(getattr(refmlc.strategies, name) is not None for name in refmlc.strategies.__all__)
