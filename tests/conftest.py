"""Profiles: `ci` (the same examples every time, the default), `dev` (a few, new ones each time), `soak` (long).

REFMLC_PROFILE chooses. The default finds nothing new, so that whoever runs the tests sees what everybody sees.
"""

import os
import signal

import pytest
from in_browser import chromium

from refmlc.testing import profiles

PROFILE = os.environ.get("REFMLC_PROFILE") or "ci"

profiles.load(PROFILE)


def pytest_configure():
    """Hear interrupts, and let what is started hear them, although a shell that runs this behind it ignores them."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config, items):
    """Leave out what is marked `soak`, unless the profile is soak."""
    if PROFILE == "soak":
        return
    chosen, left = [], []
    for item in items:
        (left if item.get_closest_marker("soak") else chosen).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = chosen


@pytest.fixture(scope="module")
def browser():
    """A running Chromium."""
    yield from chromium()
