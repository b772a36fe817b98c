"""What tests of building share: a cache of their own, compilers that misbehave, a process that forgets its warnings."""

import pytest
from needs import need

from refmlc.native.compile import failures
from refmlc.native.compile.cache import Cache
from refmlc.native.compile.compiler import find_compiler


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    """Nothing chosen by whoever runs the tests, no warning given before."""
    for name in ("REFMLC_CC", "REFMLC_ISA", "REFMLC_CACHE_DIR", "REFMLC_CACHE_SIZE"):
        monkeypatch.delenv(name, raising=False)
    failures._warned_causes.cache_clear()
    yield
    failures._warned_causes.cache_clear()


@pytest.fixture(autouse=True)
def compiler():
    """The compiler here; without one there is nothing to test."""
    need("compiler")
    return find_compiler()


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Make a program of the given shell text the compiler; it has a version as every compiler has."""

    def make(text):
        path = tmp_path / "bin" / "compiler"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo "gcc fake"; exit 0; fi\n{text}\n')
        path.chmod(0o755)
        monkeypatch.setenv("REFMLC_CC", str(path))
        return path

    return make
