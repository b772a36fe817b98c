"""Running one TensorIR function given as text."""

import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.script import read
from refmlc.run.interp.machine import Machine

PRELUDE = "from tvm.script import tirx as T\n"


@pytest.fixture
def run():
    """`run(text, *args, **options)`: call the first function of the text; options go to the machine."""

    def call(text, *args, func=None, **options):
        module = read(PRELUDE + text, "test.py")
        machine = Machine(module, **options)
        return machine.call(func or next(iter(module.functions)), args)

    return call


@pytest.fixture
def failing(run):
    """`failing(text, *args)`: the diagnostic that the call ends with."""

    def call(text, *args, **options):
        with pytest.raises(RefmlcError) as caught:
            run(text, *args, **options)
        return caught.value.diagnostic

    return call
