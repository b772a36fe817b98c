"""Profiles: `ci` (the same examples every time, the default), `dev` (a few, new ones each time), `soak` (long).

REFMLC_PROFILE chooses. The default finds nothing new, so that whoever runs the tests sees what everybody sees.
"""

import os

from hypothesis import HealthCheck, settings

PROFILE = os.environ.get("REFMLC_PROFILE") or "ci"

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=200, deadline=None, derandomize=True, print_blob=True)
settings.register_profile(
    "soak", max_examples=10_000, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile(PROFILE)


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
