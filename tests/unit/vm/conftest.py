"""What tests of the virtual machine share: libraries are kept in a folder of the test run."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def cache_of_the_run(tmp_path_factory):
    """Nothing is taken from, or left in, the cache of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REFMLC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("REFMLC_CC", raising=False)
        yield
