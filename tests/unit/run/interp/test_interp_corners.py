"""Corners of the interpreter that wrong variants of it showed to be open."""

from types import SimpleNamespace

import pytest

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import INT32
from refmlc.lang.ir import IRModule, tir
from refmlc.run.interp.graph.call_site import Site
from refmlc.run.interp.machine import Machine
from refmlc.run.memory.registry import FunctionRegistry


@pytest.mark.parametrize(("least", "most", "takes"), [(2, 2, "2"), (1, 3, "1 to 3")])
def test_how_many_arguments_an_operator_takes_is_said(least, most, takes):
    site = Site(SimpleNamespace(), "R.op", None)
    row = SimpleNamespace(least=least, most=most)
    site.check_arity(row, least)
    site.check_arity(row, most)
    for count in (least - 1, most + 1):
        with pytest.raises(RefmlcError, match=f"`R.op` takes {takes} arguments, {count} are given"):
            site.check_arity(row, count)


def test_the_name_of_a_packed_function_may_be_plain_text():
    """So it is in IR that is made by hand; the reader makes a `StringImm`."""
    called = []
    registry = FunctionRegistry()
    registry.register("my.function", lambda *args: called.append(args))
    call = tir.Call("tvm_call_packed", ("my.function", tir.IntImm(INT32, 7)), INT32)
    module = IRModule({"main": tir.PrimFunc((), {}, tir.Evaluate(call))})
    Machine(module, registry=registry).call("main", ())
    assert called == [(7,)]
