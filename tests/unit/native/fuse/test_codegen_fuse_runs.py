"""Which bindings are executed together, and what is said of those that are not."""

import pytest
from fused_runs import ADD, INCREASE, SPLIT, TWICE, F, module, plan

X = {"x": F, "y": F}


def call(name, args, out=F, extra=""):
    return f"R.call_tir(cls.{name}, ({args},), out_sinfo={out}{extra})"


def shapes(mod):
    """Of each run the first and the last binding, and the names of inputs and outputs."""
    fused, _ = plan(mod)
    return [
        (
            run.block.bindings[run.start].var.name,
            run.block.bindings[run.stop - 1].var.name,
            [getattr(operand.value, "name", "constant") for operand in run.inputs],
            [operand.value.name for operand in run.outputs],
        )
        for run in fused.runs
    ]


def reasons(mod):
    return {apart.binding.var.name: apart.reason for apart in plan(mod)[0].apart}


def test_consecutive_calls_are_one_run():
    mod = module(ADD + TWICE, X, [f"a = {call('add', 'x, y')}", f"b = {call('twice', 'a')}"], "b")
    assert shapes(mod) == [("a", "b", ["x", "y"], ["b"])]
    (run,) = plan(mod)[0].runs
    assert (run.function, run.calls, run.start, run.stop) == ("main", ("add", "twice"), 0, 2)


def test_what_is_used_later_goes_out():
    body = [f"a = {call('add', 'x, y')}", f"b = {call('twice', 'a')}", f"c = {call('add', 'a, b')}"]
    assert shapes(module(ADD + TWICE, X, body, "a, c", "(a, c)")) == [("a", "c", ["x", "y"], ["a", "c"])]


def test_a_library_call_ends_a_run_and_another_begins():
    body = [
        f"a = {call('add', 'x, y')}",
        f"b = {call('twice', 'a')}",
        f'c = R.call_dps_packed("lib.f", (b,), out_sinfo={F})',
        f"d = {call('add', 'c, a')}",
    ]
    mod = module(ADD + TWICE, X, body, "d")
    assert shapes(mod) == [("a", "b", ["x", "y"], ["a", "b"]), ("d", "d", ["c", "a"], ["d"])]
    assert reasons(mod) == {"c": "`lib.f` is not compiled"}


@pytest.mark.parametrize("name", ["twice", "exported"])
def test_packed_calls_of_functions_of_the_module_are_calls(name):
    functions = ADD + TWICE.replace(
        "        n = T.int64()", '        T.func_attr({"global_symbol": "exported"})\n        n = T.int64()'
    )
    body = [f"a = {call('add', 'x, y')}", f'b = R.call_dps_packed("{name}", (a,), out_sinfo={F})']
    assert shapes(module(functions, X, body, "b")) == [("a", "b", ["x", "y"], ["b"])]


def test_fields_of_a_returned_tuple_are_names():
    body = [
        f"t = {call('split', 'x', f'[{F}, {F}]')}",
        "a = t[0]",
        "b = t[1]",
        f"c = {call('add', 'a, b')}",
    ]
    assert shapes(module(ADD + SPLIT, {"x": F}, body, "c")) == [("t", "c", ["x"], ["c"])]


def test_a_tuple_is_not_handed_out():
    body = [f"a = {call('add', 'x, y')}", f"t = {call('split', 'a', f'[{F}, {F}]')}"]
    mod = module(ADD + SPLIT, X, body, "t")
    assert shapes(mod) == [("a", "a", ["x", "y"], ["a"])]
    assert reasons(mod) == {"t": "`t` is not a tensor of its own"}


def test_one_tensor_is_handed_out_under_one_name():
    body = [f"a = {call('add', 'x, y')}", "b = a", f"c = {call('twice', 'b')}"]
    assert shapes(module(ADD + TWICE, X, body, "b, c", "(b, c)")) == [("a", "c", ["x", "y"], ["b", "c"])]
    mod = module(ADD + TWICE, X, body, "a, b, c", "(a, b, c)")
    assert shapes(mod) == [("a", "a", ["x", "y"], ["a"]), ("c", "c", ["b"], ["c"])]


def test_casts_end_a_run():
    body = [f"a = {call('add', 'x, y')}", f"b = R.match_cast(a, {F})", f"c = {call('twice', 'b')}"]
    mod = module(ADD + TWICE, X, body, "c")
    assert [run[:2] for run in shapes(mod)] == [("a", "a"), ("c", "c")]
    assert reasons(mod) == {"b": "it is a match_cast"}


def test_in_place_calls_on_what_the_run_made():
    inplace = f"R.call_tir_inplace(cls.increase, (a,), inplace_indices=[0], out_sinfo={F})"
    body = [f"a = {call('add', 'x, y')}", f"b = {inplace}"]
    assert shapes(module(ADD + INCREASE, X, body, "b")) == [("a", "b", ["x", "y"], ["b"])]


def test_in_place_calls_on_what_comes_from_outside_are_not():
    inplace = f"R.call_tir_inplace(cls.increase, (x,), inplace_indices=[0], out_sinfo={F})"
    mod = module(ADD + INCREASE, X, [f"a = {inplace}", f"b = {call('add', 'a, y')}"], "b")
    assert [run[:2] for run in shapes(mod)] == [("b", "b")]
    assert reasons(mod) == {"a": "`A` of `increase` is written, and is no output"}


OTHER = "`C` of `twice` has another dtype or number of axes than the argument"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (f'R.call_tir("missing", (x,), out_sinfo={F})', "`missing` is not compiled"),
        (call("twice", "x, y"), "`twice` takes 2 arguments, 3 are given"),
        (call("twice", "x", 'R.Tensor((n,), "float16")'), OTHER),
        (call("twice", "x", 'R.Tensor((n, 1), "float32")'), OTHER),
        ("R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor(ndim=1, dtype='float32'))", "an output has no known shape"),
        ("R.add(x, y)", "it calls no function of the module"),
        ("x", "it calls no function of the module"),
    ],
)  # fmt: skip
def test_what_would_fail_or_is_no_call_is_left_to_the_interpreter(line, reason):
    mod = module(TWICE, X, [f"a = {line}"], "a")
    assert shapes(mod) == []
    assert reasons(mod) == {"a": reason}


def test_dimensions_that_cannot_be_equal_are_left_to_the_interpreter():
    mod = module(
        TWICE, {"x": 'R.Tensor((3,), "float32")'}, [f"a = {call('twice', 'x', F.replace('(n,)', '(4,)'))}"], "a"
    )
    assert reasons(mod) == {"a": "a dimension is 3 and 4"}


def test_dimensions_that_may_be_equal_are_compared_by_the_caller():
    mod = module(ADD, {"x": F, "y": 'R.Tensor((m,), "float32")'}, [f"a = {call('add', 'x, y')}"], "a")
    ((pair,),) = [run.equal for run in plan(mod)[0].runs]
    assert {part.name for part in pair} == {"n", "m"}


def test_the_type_that_a_variable_is_declared_to_have_is_compared():
    mod = module(ADD, X, [f"a: R.Tensor((n + 1,), 'float32') = {call('add', 'x, y')}"], "a")
    assert [len(run.equal) for run in plan(mod)[0].runs] == [1]
    mod = module(ADD, X, [f"a: R.Tensor((n,), 'float16') = {call('add', 'x, y')}"], "a")
    assert reasons(mod) == {"a": "the variable is declared to be of another type"}


def test_blocks_of_local_functions_and_branches_are_looked_through():
    text = f"""
    @R.function
    def other(c: R.Tensor((), "bool"), x: R.Tensor(("n",), "float32")):
        cls = Module
        n = T.int64()
        if c:
            with R.dataflow():
                a = {call("twice", "x")}
                R.output(a)
            r = a
        else:
            with R.dataflow():
                b = {call("add", "x, x")}
                R.output(b)
            r = b
        return r
"""
    mod = module(ADD + TWICE + text, X, [f"a = {call('add', 'x, y')}"], "a")
    assert [(run[0], run[3]) for run in shapes(mod)] == [("a", ["a"]), ("b", ["b"]), ("a", ["a"])]
    assert [run.function for run in plan(mod)[0].runs] == ["other", "other", "main"]
