"""Modules of `relax.frontend.nn` export what TVM's export: the models of `nn_models`."""

from functools import cache

import pytest
from nn_models import models, texts, theirs, verdict

from refmlc.tvm import topi
from refmlc.tvm.relax.frontend import nn

pytestmark = pytest.mark.needs("tvm")


@cache
def both():
    return texts(nn, topi), theirs()


@pytest.mark.parametrize("name", models(nn, topi))
def test_the_exported_module_is_tvms(name):
    ours, real = both()
    assert verdict(ours[name], real[name]) in ("same text", "equal")
