"""The library of wrappers, built once."""

import pytest
from wrappers import (
    Library,
    cast_helpers,
    cell_helpers,
    cell_wrappers,
    definitions,
    operator_helpers,
    reinterpret_helpers,
)


@pytest.fixture(scope="session")
def operators(tmp_path_factory):
    """Operators, loads and stores, codes and rounding."""
    helpers = [*operator_helpers().values(), *cell_helpers().values()]
    return Library.build(tmp_path_factory.mktemp("operators"), "operators", helpers, cell_wrappers())


@pytest.fixture(scope="session")
def conversions(tmp_path_factory):
    casts, reinterprets = cast_helpers(), reinterpret_helpers()
    text = cell_wrappers() + definitions(casts, reinterprets)
    helpers = [*casts.values(), *reinterprets.values()]
    return Library.build(tmp_path_factory.mktemp("conversions"), "conversions", helpers, text)
