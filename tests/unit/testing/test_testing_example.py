"""The example in the package's text runs, and says what it says."""

import doctest

import refmlc.testing


def test_the_example():
    found = doctest.testmod(refmlc.testing)
    assert (found.failed, found.attempted) == (0, 5)
