"""What stands between the calls of a run: plain blocks, tuples, other shapes, functions of Relax."""

import numpy as np
import pytest
from fused_runs import ADD, INCREASE, SPLIT, TWICE, F, execute, module, plan

from refmlc.diag import Exhausted, IllFormed, Undefined
from refmlc.lang.ir import relax
from refmlc.lang.script import read
from refmlc.native.fuse import runs as runs_of_blocks
from refmlc.run.memory.budget import Budget
from refmlc.vm import VirtualMachine, build

X = {"x": F, "y": F}
K = 'R.Tensor((k,), "float32")'


def call(name, args, out=F):
    return f"R.call_tir(cls.{name}, ({args},), out_sinfo={out})"


def runs(mod):
    """Of each run of `main`: the first and the last binding, and what leaves it."""
    return [
        (run.start, run.stop, [operand.value.name for operand in run.outputs])
        for run in plan(mod)[0].runs
        if run.function == "main"
    ]


def reasons(mod):
    return {apart.binding.var.name: apart.reason for apart in plan(mod)[0].apart if apart.function == "main"}


def plain(functions, body, returns, params='x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")'):
    """A module whose `main` has no dataflow block."""
    lines = "".join(f"        {line}\n" for line in body)
    return read(
        "from tvm.script import ir as I, tirx as T, relax as R\n\n@I.ir_module\nclass Module:\n"
        f"{functions}\n    @R.function(pure=False)\n    def main({params}):\n"
        f"        n = T.int64()\n        cls = Module\n{lines}        return {returns}\n",
        "plain.py",
    )


def relax_function(name, body, returns, params=f"x: {K}, y: {K}", result=""):
    """A function of Relax beside `main`, in which `k` is a dimension."""
    lines = "".join(f"        {line}\n" for line in body)
    params = params.replace("(k,)", '("k",)').replace("(k, 1)", '("k", 1)')
    return (
        f"\n    @R.function(private=True)\n    def {name}({params}){result}:\n"
        f"        k = T.int64()\n        cls = Module\n{lines}        return {returns}\n"
    )


# ---------------------------------------------------------------------------------------------- plain blocks


def test_bindings_of_a_plain_block_are_a_run_and_what_is_used_outside_leaves():
    body = [f"a = {call('add', 'x, y')}", f"b = {call('twice', 'a')}", f"c = {call('twice', 'b')}"]
    assert runs(plain(ADD + TWICE, body, "c")) == [(0, 3, ["c"])]
    assert runs(plain(ADD + TWICE, body, "(a, c)")) == [(0, 3, ["a", "c"])]


def test_what_a_later_binding_a_branch_or_a_function_uses_leaves():
    params = 'x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32"), q: R.Tensor((), "bool")'
    body = [
        f"a = {call('add', 'x, y')}",
        f"b = {call('twice', 'a')}",
        f"c = {call('twice', 'b')}",
        "if q:",
        f"    d = {call('add', 'a, c')}",
        "    r = d",
        "else:",
        f"    e = {call('twice', 'c')}",
        "    r = e",
    ]
    fused = [
        (len(run.block.bindings), [operand.value.name for operand in run.outputs])
        for run in plan(plain(ADD + TWICE, body, "r", params))[0].runs
    ]
    assert sorted(fused) == [(1, ["d"]), (1, ["e"]), (4, ["a", "c"])]


@pytest.mark.needs("compiler")
def test_a_function_with_a_plain_block_is_called_as_one_c_function():
    body = [f"a = {call('add', 'x, y')}", f"b = {call('twice', 'a')}"]
    vm = VirtualMachine(build(plain(ADD + TWICE, body, "b"), "native"))
    x, y = np.float32([1, 2, 3]), np.float32([10, 20, 30])
    for _ in range(3):
        assert vm["main"](x, y).numpy().tolist() == [22, 44, 66]
    assert vm["main"]._cache.last is not None
    assert vm.native.counts.native == 3


# ------------------------------------------------------------------------------------------------------ tuples


def test_a_tuple_of_tensors_with_names_leaves():
    body = [f"a = {call('add', 'x, y')}", f"b = {call('twice', 'a')}", "t = (b, a, b)"]
    mod = module(ADD + TWICE, X, body, "t")
    assert runs(mod) == [(0, 3, ["b", "a"])]
    (run,) = plan(mod)[0].runs
    assert [(var.name, numbers) for var, numbers in run.tuples] == [("t", (0, 1, 0))]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (["t = (a, x)"], "it calls no function of the module"),
        (["u = (a, a)", "t = (u, a)"], "it calls no function of the module"),
        (["t = (a, R.prim_value(1))"], "it calls no function of the module"),
    ],
)
def test_other_tuples_end_a_run(body, reason):
    mod = module(ADD, X, [f"a = {call('add', 'x, y')}", *body], "t")
    assert reasons(mod)["t"] == reason
    assert runs(mod)[0][2] in (["a"], ["a", "a"])


@pytest.mark.needs("compiler")
@pytest.mark.parametrize("returned", ["t", "(t[1], t[0])"])
def test_a_function_may_return_a_tuple_that_is_bound(returned):
    body = [f"a = {call('add', 'x, y')}", f"b = {call('twice', 'a')}", "t = (b, a)"]
    vm = VirtualMachine(build(plain(ADD + TWICE, body, returned), "native"))
    x, y = np.float32([1, 2]), np.float32([10, 20])
    for _ in range(3):
        values = [tensor.numpy().tolist() for tensor in vm["main"](x, y)]
        assert values == ([[22, 44], [11, 22]] if returned == "t" else [[11, 22], [22, 44]])
    assert (vm["main"]._cache.last is not None) == (returned == "t")


@pytest.mark.needs("compiler")
def test_one_tensor_twice_in_a_tuple_is_one_tensor():
    vm = VirtualMachine(build(plain(ADD, [f"a = {call('add', 'x, y')}", "t = (a, a)"], "t"), "native"))
    for _ in range(2):
        first, second = vm["main"](np.float32([1]), np.float32([2]))
        assert first is second


# ------------------------------------------------------------------------------------------------ other shapes


@pytest.mark.needs("compiler")
def test_a_tensor_in_another_shape_has_the_same_memory():
    two = F.replace("(n,)", "(2, n)")
    params = {"x": two, "y": two}
    body = [
        "a = R.reshape(x, R.shape([2 * n]))",
        f"b = {call('twice', 'a', F.replace('(n,)', '(2 * n,)'))}",
        "c = R.reshape(b, R.shape([n, 2]))",
        "d = R.reshape(c, R.shape([2 * n]))",
        f"e = {call('add', 'd, b', F.replace('(n,)', '(2 * n,)'))}",
    ]
    mod = read(
        "from tvm.script import ir as I, tirx as T, relax as R\n\n@I.ir_module\nclass Module:\n"
        f"{ADD}{TWICE}\n    @R.function\n    def main({', '.join(f'{k}: {v}' for k, v in params.items())}):\n".replace(
            "(2, n)", '(2, "n")'
        )
        + "        n = T.int64()\n        cls = Module\n        with R.dataflow():\n"
        + "".join(f"            {line}\n" for line in body)
        + "            R.output(e)\n        return e\n",
        "shapes.py",
    )
    assert runs(mod) == [(0, 5, ["e"])]
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for static in (False, True):
        ran = execute(mod, {"x": x}, n=3, static=static)
        assert ran.outputs["e"].tolist() == (4 * x.ravel()).tolist()


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        ("[-1]", "an extent of its shape may be kept, inferred or negative"),
        ("[0]", "an extent of its shape may be kept, inferred or negative"),
        ("[n - 1]", "an extent of its shape may be kept, inferred or negative"),
        ("[1, n]", "`b` is not a tensor of its own"),
    ],
)
def test_other_reshapes_are_left_to_the_interpreter(shape, reason):
    mod = module(ADD, X, [f"a = {call('add', 'x, y')}", f"b = R.reshape(x, R.shape({shape}))"], "a, b", "(a, b)")
    assert reasons(mod) == {"b": reason}


def test_numbers_of_elements_are_compared():
    body = [f"a = {call('add', 'x, y')}", "b = R.reshape(a, R.shape([n + 1]))"]
    mod = module(ADD, X, body, "b")
    ((left, right),) = [pair for run in plan(mod)[0].runs for pair in run.equal]
    assert {type(left).__name__, type(right).__name__} == {"Var", "Apply"}
    four = {"x": 'R.Tensor((4,), "float32")', "y": 'R.Tensor((4,), "float32")'}
    out = 'R.Tensor((4,), "float32")'
    mod = module(ADD, four, [f"a = {call('add', 'x, y', out)}", "b = R.reshape(a, R.shape([5]))"], "b")
    assert reasons(mod) == {"b": "a dimension is 4 and 5"}


def test_a_tensor_leaves_in_one_shape():
    body = [f"a = {call('add', 'x, y')}", "b = R.reshape(a, R.shape([1, n]))"]
    mod = module(ADD, X, body, "a, b", "(a, b)")
    assert (runs(mod), reasons(mod)) == ([(0, 1, ["a"])], {"b": "`b` is not a tensor of its own"})


def test_what_the_run_did_not_make_is_not_written_through_another_shape():
    body = [
        "a = R.reshape(x, R.shape([n]))",
        f"b = R.call_tir_inplace(cls.increase, (a,), inplace_indices=[0], out_sinfo={F})",
        f"c = {call('add', 'b, y')}",
    ]
    assert reasons(module(ADD + INCREASE, X, body, "c"))["b"] == "`A` of `increase` is written, and is no output"


# ------------------------------------------------------------------------------------------ functions of Relax


RESULT = ' -> R.Tensor(("k",), "float32")'
INNER = [f"a = {call('add', 'x, y', K)}", f"b = {call('twice', 'a', K)}"]


def test_the_bindings_of_a_function_that_is_called_are_part_of_the_run():
    functions = ADD + TWICE + relax_function("inner", INNER, "b", result=RESULT)
    mod = plain(functions, ["a = cls.inner(x, y)", "b = cls.inner(a, x)"], "b")
    assert runs(mod) == [(0, 2, ["b"])]
    (run,) = [run for run in plan(mod)[0].runs if run.function == "main"]
    assert (run.calls, run.levels) == (("add", "twice", "add", "twice"), 1)
    assert run.steps == 2 + 2 * (1 + 2) + 4  # bindings; functions of Relax with their bindings; functions of TensorIR


@pytest.mark.needs("compiler")
def test_functions_of_relax_in_runs_give_the_bits_of_the_interpreter():
    functions = ADD + TWICE + SPLIT
    functions += relax_function("inner", INNER, "b")
    body = ["c = cls.inner(x, y)", f"t = {call('split', 'c', f'[{K}, {K}]')}"]
    functions += relax_function("outer", body, "(t[1], y)")
    mod = plain(functions, ["t = cls.outer(x, y)", "u = t[0]", "v = t[1]", f"w = {call('add', 'u, v')}"], "w")
    x, y = np.float32([1, 2, 3]), np.float32([0.5, 0.25, 4])
    vm = VirtualMachine(build(mod, "native"))
    for _ in range(3):
        assert vm["main"](x, y).numpy().tolist() == (((x + y) * 2 - 1) + y).tolist()


def test_functions_that_are_no_run_as_a_whole_are_called_by_the_interpreter():
    itself = "`inner` calls itself, or its arguments are not its tensors"
    for body, params, reason in (
        ([f"a = {call('add', 'x, y', K)}", "b = cls.inner(a, y)"], K, itself),
        ([f"b = R.match_cast(x, {K})"], K, "it is a match_cast"),
        (
            [f"b = {call('add', 'y, y', K)}"],
            'R.Tensor(ndim=1, dtype="float32")',
            "a dimension of the function is not one of an argument",
        ),
    ):
        functions = ADD + relax_function("inner", body, "b", f"x: {params}, y: {params}", RESULT)
        assert reasons(plain(functions, ["a = cls.inner(x, y)"], "a")) == {"a": reason}


def test_what_a_function_returns_and_takes_is_compared():
    wrong = relax_function("inner", INNER, "b", result=' -> R.Tensor(("k",), "float16")')
    assert reasons(plain(ADD + TWICE + wrong, ["a = cls.inner(x, y)"], "a")) == {
        "a": "the variable is declared to be of another type"
    }
    other = relax_function("inner", INNER, "b", params=f"x: {K}, y: R.Tensor((k, 1), 'float32')")
    assert "another" in reasons(plain(ADD + TWICE + other, ["a = cls.inner(x, y)"], "a"))["a"]
    one = plain(ADD + TWICE + relax_function("inner", INNER, "b"), ["a = cls.inner(x)"], "a")
    assert reasons(one) == {"a": "`inner` calls itself, or its arguments are not its tensors"}


def test_many_calls_of_functions_that_call_functions_are_left_to_the_interpreter(monkeypatch):
    monkeypatch.setattr(runs_of_blocks, "MOST_STEPS", 7)
    functions = ADD + relax_function("f0", [f"a = {call('add', 'x, y', K)}"], "a")
    for number in range(1, 4):
        body = [f"a = cls.f{number - 1}(x, y)", f"b = cls.f{number - 1}(a, y)"]
        functions += relax_function(f"f{number}", body, "b")
    assert reasons(plain(functions, ["a = cls.f3(x, y)"], "a")) == {"a": "too many functions are called"}


@pytest.mark.needs("compiler")
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_depth_is_counted_as_the_interpreter_counts_it(depth):
    functions = ADD + TWICE + relax_function("inner", INNER, "b")
    mod = plain(functions, ["a = cls.inner(x, y)"], "a")
    seen = []
    for tier in ("interp", "native"):
        vm = VirtualMachine(build(mod, tier, budget=Budget(max_depth=depth)))
        for _ in range(3):
            try:
                seen.append(vm["main"](np.float32([1]), np.float32([2])).numpy().tolist())
            except Exhausted as failure:
                seen.append(str(failure))
    assert seen[:3] == seen[3:]
    assert isinstance(seen[0], str) == (depth < 3)


@pytest.mark.needs("compiler")
def test_an_argument_that_was_killed_is_reported_although_no_call_reads_it():
    functions = ADD + relax_function("second", [f"a = {call('add', 'y, y', K)}"], "a")
    body = ["_ = R.memory.kill_tensor(x)", "a = cls.second(x, y)"]
    for tier in ("interp", "native"):
        vm = VirtualMachine(build(plain(functions, body, "a"), tier, check=False))
        with pytest.raises(Undefined, match="killed"):
            vm["main"](np.float32([1]), np.float32([2]))


@pytest.mark.needs("compiler")
@pytest.mark.parametrize("returned", ["a", "b"])
def test_dataflow_variables_end_with_their_block_in_functions_that_are_called(returned):
    body = ["with R.dataflow():", f"    a = {call('add', 'x, y', K)}", f"    b = {call('twice', 'a', K)}"]
    functions = ADD + TWICE + relax_function("inner", [*body, "    R.output(b)"], returned)
    mod = plain(functions, ["a = cls.inner(x, y)", f"c = {call('twice', 'a')}"], "c")
    for tier in ("interp", "native"):
        vm = VirtualMachine(build(mod, tier, check=False))
        for _ in range(2):
            if returned == "b":
                assert vm["main"](np.float32([1]), np.float32([2])).numpy().tolist() == [12]
                continue
            with pytest.raises(IllFormed, match="outside its dataflow block"):
                vm["main"](np.float32([1]), np.float32([2]))


def test_parameters_of_the_graph_are_variables():
    mod = plain(ADD, [f"a = {call('add', 'x, y')}"], "a")
    (run,) = plan(mod)[0].runs
    assert all(isinstance(operand.value, relax.Var) for operand in run.inputs)
