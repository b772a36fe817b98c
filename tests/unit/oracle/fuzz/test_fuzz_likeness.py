"""Rows that look like a finding: by the message of a failure, by the operators of another result."""

import pytest

from refmlc.lang.script import read
from refmlc.oracle.fuzz.finding_pattern import OF_CAST, Pattern, failure_words, names_in_program
from refmlc.oracle.fuzz.likeness import is_specific, like_row
from refmlc.oracle.fuzz.program_uses import uses_in
from refmlc.oracle.fuzz.row_looks import how_of

SAYS = {"name": "tvm 0.27.0.post1"}
REFUSED = "DiagnosticError: error: Data type T.{} not supported for isnan op. Skipping isnan."


def of_message(message, names=()):
    return like_row(SAYS, Pattern(failure_words(message, names)), message)


def test_a_failure_is_like_the_row_with_its_message():
    tir_vars = "DiagnosticError: error: call_tir() got an unexpected keyword argument 'tir_vars'"
    assert of_message(tir_vars) == "tir-vars"
    assert of_message(tir_vars.replace("tir_vars", "other")) == ""
    assert of_message("AttributeError: module 'tvm.topi.nn' has no attribute 'pixel_shuffle'") == "pixel-shuffle"
    check = (
        "InternalError: Check failed: (opt) is false: The type of Tuple must be TupleType, but expression y0 has type "
    )
    assert of_message(f'{check}R.Tensor((3,), dtype="bfloat16")', {"y0"}) == "split-in-one"
    assert of_message("the process was killed by SIGSEGV") == ""
    assert of_message("DiagnosticError: error:") == ""  # rows of other causes begin so
    text = "InternalError: CodeGenVM cannot emit this Relax operator directly. Run the appropriate lowering pass, or"
    text += " route the operator to an external codegen before VM codegen. Offending call: R.ewise_fma(x2, x3, x4)"
    assert of_message(text, {"x2", "x3", "x4"}) == "ewise-fma"


@pytest.mark.parametrize(
    ("operator", "words", "row"),
    [
        ("exp10", "float value", "exp10-float64"),
        ("exp10", "narrow float value", ""),
        ("vision.roi_align", "half float value", "roi-align-float16"),
        ("nn.max_pool2d", "half float finite for inf", "max-pool-infinities"),
        ("vision.roi_align", "float finite for zero", ""),
        ("vision.roi_align", "the result is a tensor # of dtype", "roi-align-float16"),
        ("no such operator", "float value", ""),
        ("image.grid_sample", "the result is a tensor # of dtype", "grid-sample-float16"),
        ("median", "the result is a tensor # of dtype", "median-keepdims"),
        ("scatter_elements", "the result is a tensor # of dtype", ""),  # its row gives other values
    ],
)
def test_another_result_is_like_the_row_of_its_operator(operator, words, row):
    assert like_row(SAYS, Pattern(words, operators=frozenset({operator}))) == row


LOOP = """@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "{dtype}"), R: T.Buffer((4,), "bool")):
    for i in range(4):
        R[i] = {value}
"""
GRAPH = """@R.function
def main(x: R.Tensor(({extent}, 2), "float32"), y: R.Tensor((2, {extent}), "float32")):
    return {value}
"""
CHECK = "InternalError: Check failed: {}"
DIVIDE = CHECK.format("pb->value != 0 (0 vs. 0) : Divide by zero")
FINITE = "DiagnosticError: error: Data type T.{} not supported for finiteness ops. Skipping it..."


def of_program(message, text, **parts):
    module = read(text.format(**parts), "p.py")
    return like_row(SAYS, Pattern(failure_words(message, names_in_program(module))), message, module)


@pytest.mark.parametrize(
    ("dtype", "value", "message", "row"),
    [
        ("bool", "A[i] < A[0]", CHECK.format("lhs.dtype().is_float()"), "bool-order"),
        ("bool", "A[i] >= A[0]", CHECK.format("lhs.dtype().is_float()"), "bool-order"),
        ("int32", "A[i] < A[0]", CHECK.format("lhs.dtype().is_float()"), ""),  # its operands are no bools
        ("bool", "A[i] < A[0]", "InternalError: something else", ""),
        ("bfloat16", "T.isnan(A[i])", CHECK.format("(ffi::StructuralEqual()(value->ty, var->ty)) is false:"), ""),
        ("bfloat16", "True", CHECK.format("(ffi::StructuralEqual()(value->ty, var->ty)) is false:"), ""),
        ("float8_e4m3fn", "T.isfinite(A[i])", FINITE.format("float8_e4m3fn"), "float8-classes"),
        ("bfloat16", "T.isfinite(A[i])", FINITE.format("bfloat16"), "bfloat16-classes"),
    ],
)
def test_of_a_message_that_is_cut_off_the_row_has_the_operator_on_that_dtype(dtype, value, message, row):
    assert of_program(message, LOOP, dtype=dtype, value=value) == row


@pytest.mark.parametrize(
    ("value", "row"),
    [
        ("R.cumsum(x)", "cumsum-of-nothing"),
        ("R.cumprod(x)", "cumsum-of-nothing"),
        ("R.scatter_elements(x, y, x)", "scatter-of-nothing"),
        ("R.gather_nd(x, x)", "cumsum-of-nothing"),  # of none: the one that the others have their cause of
    ],
)
def test_of_rows_with_one_message_it_is_the_one_of_the_operator(value, row):
    assert of_program(DIVIDE, GRAPH, extent=0, value=value) == row
    assert of_program(DIVIDE, GRAPH.replace("float32", "float64"), extent=0, value=value) == row


@pytest.mark.parametrize(
    ("extent", "value", "message", "row"),
    [
        (0, "R.variance(x)", CHECK.format("fb->value != 0 (0 vs. 0) : Divide by zero"), "mean-of-nothing"),
        (3, "R.variance(x)", CHECK.format("fb->value != 0 (0 vs. 0) : Divide by zero"), "resize-one-element"),
        (
            3,
            "R.repeat(x, 0)",
            CHECK.format("(repeats >= 1) is false: repeat only accepts `repeats >= 1`"),
            "repeat-zero",
        ),
        (3, "R.tile(x, 0)", CHECK.format("(repeats >= 1) is false: repeat only accepts `repeats >= 1`"), ""),
    ],
)
def test_a_message_is_that_of_the_operator_or_of_the_row_without_elements(extent, value, message, row):
    assert of_program(message, GRAPH.replace("float32", "float64"), extent=extent, value=value) == row


@pytest.mark.parametrize(("extent", "row"), [(0, "einsum-of-nothing"), (3, "")])
def test_another_result_is_like_a_legalisation_that_reads_what_nothing_wrote(extent, row):
    module = read(GRAPH.format(extent=extent, value='R.einsum((x, y), "ij,jk->ik")'), "p.py")
    assert like_row(SAYS, Pattern("float value", operators=frozenset({"einsum"})), module=module) == row


@pytest.mark.parametrize(
    ("extent", "value", "row"),
    [
        (0, "R.max(x, axis=0)", "max-of-nothing"),  # not `max-of-infinities`, which has the operator too
        (0, "R.min(x, axis=0)", "max-of-nothing"),
        (0, "R.prod(x, axis=0)", "max-of-nothing"),
        (0, "R.cumsum(x, axis=0)", ""),  # of another group
        (3, "R.prod(x, axis=0)", ""),
    ],
)
def test_another_result_of_no_elements_is_like_the_row_of_an_operator_of_its_group(extent, value, row):
    module = read(GRAPH.format(extent=extent, value=value), "p.py")
    operators = frozenset({value.partition("(")[0].removeprefix("R.")})
    assert like_row(SAYS, Pattern("float finite for inf", operators=operators), module=module) == row


ERRORS = "InternalError: LLVM module verification failed with the following errors: {}"


@pytest.mark.parametrize(
    ("error", "row"),
    [
        ("Invalid operand types for FCmp instruction %# = fcmp oeq i1 %#, %#, !dbg !#", "bool-comparison"),
        ("Invalid bitcast %# = bitcast float %# to i8, !dbg !#", ""),
    ],
)
def test_an_error_of_llvm_is_like_the_row_that_has_it(error, row):
    assert of_program(ERRORS.format(error), LOOP, dtype="bool", value="A[i] == A[0]") == row


LET = CHECK.format("(value.ty() == var->ty.as_or_throw<PrimType>()) is false:")
WINDOW = """@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("window"):
            V = T.match_buffer(A[i], (1,), "float32")
            V[0] = T.float32(0)
"""
UNMET = CHECK.format("(analyzer_->CanProve(lhs_prim.value() == rhs_prim)) is false: The buffer match constraint for ")
UINT64 = (
    "DiagnosticError: error: Mismatched type on argument #0 when calling: `script.ir_builder.tirx.UInt64(0: Optional<"
)
NO_WORDS = "DiagnosticError: error:"


@pytest.mark.parametrize(
    ("dtype", "value", "message", "row"),
    [
        ("bfloat16", "T.Let(f < f, where={f: A[i]})", LET, "let-float8"),
        ("float32", "T.Let(f < f, where={f: A[i]})", LET, ""),  # it is stored as what it is
        ("int32", "A[i] < T.Cast('int32', T.uint64(9223372036854775808))", UINT64, "uint64-literal"),
        ("int32", "A[i] < T.Cast('int32', T.uint64(7))", UINT64, ""),
        ("int32", "A[i] < T.tvm_thread_invariant(0)", NO_WORDS, "thread-invariant-number"),
        ("int32", "A[i] < 0", NO_WORDS, ""),
        ("float8_e5m2fnuz", "T.reinterpret('int8', A[i]) < T.int8(0)", ERRORS.format("Invalid bitcast"), "float8"),
    ],
)
def test_what_few_programs_have_counts_as_an_operator(dtype, value, message, row):
    text = LOOP.replace("    for", f"    f = T.{dtype}()\n    for") if "Let" in value else LOOP
    found = of_program(message, text, dtype=dtype, value=value)
    assert (found.startswith(row) and bool(found)) if row else not found


BIND = CHECK.format("(ffi::StructuralEqual()(value->ty, var->ty)) is false:")
PARAMETER = CHECK.format("dtype.code() == DLDataTypeCode::kDLFloat (7 vs. 2) :")
BOUND = """@T.prim_func(s_tir=True)
def main(n: T.{parameter}, A: T.Buffer((4,), "float32")):
    x: T.let[T.{bound}] = T.Cast("{bound}", A[0])
    A[1] = T.Cast("float32", x)
"""


@pytest.mark.parametrize(
    ("parameter", "bound", "message", "row"),
    [
        ("int32", "bfloat16", BIND, "bind-float8"),
        ("int32", "float8_e3m4", BIND, "bind-float8"),
        ("float8_e3m4", "float16", BIND, ""),
        ("float8_e3m4", "float16", PARAMETER, "float8-parameter"),
        ("bfloat16", "float16", PARAMETER, "float8-parameter"),
        ("float16", "bfloat16", PARAMETER, ""),
    ],
)
def test_a_number_that_is_stored_as_an_integer_counts_where_it_is_bound(parameter, bound, message, row):
    assert of_program(message, BOUND, parameter=parameter, bound=bound) == row


@pytest.mark.parametrize(
    ("value", "row"),
    [
        ('T.Cast("bfloat16", A[0]) * T.Cast("bfloat16", A[0])', "bind-float8"),
        ('T.Cast("bfloat16", A[0]) * T.Cast("bfloat16", A[1])', ""),
        ("A[0] * A[0]", ""),
    ],
)
def test_a_number_that_is_computed_twice_is_bound(value, row):
    value = value if "Cast" in value else f'T.Cast("bfloat16", {value})'
    text = f"""@T.prim_func
def main(A: T.Buffer((2,), "float32"), B: T.Buffer((1,), "bfloat16")):
    B[0] = {value}
"""
    assert of_program(BIND, text) == row


def test_a_program_may_stop_in_a_pass_of_a_row():
    text = "@T.prim_func\ndef main(A: T.Buffer((1,), 'int32')):\n    A[0] = A[0] + 1\n"
    assert of_program(CHECK.format("(is_zero(op->min)) is false:"), text) == "vectorize-minimum"
    assert (
        of_program("InternalError: Check failed: (!block_stack_.empty()) is false: no block is being built", text) == ""
    )


BRANCH = """@R.function
def main(x: R.Tensor((2,), "float32"), c: R.Tensor((), "bool")):
    if c:
        r = R.{one}(x)
    else:
        r = R.abs(x)
    return r
"""


@pytest.mark.parametrize(
    ("text", "signal", "row"),
    [
        (BRANCH.format(one="tan"), "SIGSEGV", "if-storage"),
        (BRANCH.format(one="tan"), "SIGFPE", ""),  # the row got another signal
        (GRAPH.format(extent=2, value="R.tan(x)"), "SIGSEGV", ""),
        (GRAPH.format(extent=2, value='R.einsum((x,), subscripts="ij->ik")'), "SIGSEGV", "einsum-label-from-nowhere"),
        (LOOP.format(dtype="float6_e3m2fn", value="T.tanh(A[i]) < A[i]"), "SIGSEGV", "float6-formula"),
        (LOOP.format(dtype="float32", value="T.tanh(A[i]) < A[i]"), "SIGSEGV", ""),
        (LOOP.format(dtype="int32", value="A[i] > 0 and 4 // A[i] > 1"), "SIGFPE", "and-eager"),
    ],
)
def test_a_dead_process_is_like_the_row_of_that_signal_whose_program_has_no_more(text, signal, row):
    assert of_program(f"the process was killed by {signal}", text.replace("{", "{{").replace("}", "}}")) == row


@pytest.mark.parametrize(
    ("value", "causes"),
    [
        ('T.Cast("int32", T.Cast("uint32", A[i])) % 97 == 0', ("cast-back-", "narrow-cast-")),
        ('T.Cast("int32", T.Cast("uint8", A[i])) > 3', ("narrow-cast-",)),
        ('T.Cast("int64", T.Cast("uint8", A[i])) // T.int64(3) == T.int64(0)', ("narrow-cast-",)),
        ('T.Cast("int64", A[i]) % T.int64(97) == T.int64(0)', ()),  # no cast changes a value
        ('T.Cast("int32", T.Cast("uint32", A[i]) + T.uint32(3)) + 97 == 0', ()),  # a sum has no bounds that matter
    ],
)
def test_another_result_may_be_of_the_bounds_of_a_cast_that_wraps(value, causes):
    module = read(LOOP.format(dtype="int32", value=value), "p.py")
    uses = frozenset(use for use in uses_in(module) if use[0] not in ("eq", f"eq{OF_CAST}"))
    found = like_row(SAYS, Pattern("int value", operators=frozenset({"floormod", "max"}), uses=uses), "", module)
    assert found.startswith(causes) if causes else found == ""


def test_a_message_with_words_of_its_own_needs_no_operator():
    offset = f"{UNMET}V.elem_offset unmet: 0==i"
    assert of_program(offset, WINDOW) == "match-buffer-offset"
    nested = CHECK.format("(!parallel_env_.in_parallel_loop) is false: Nested parallel loop is not supported by t")
    assert of_program(nested, LOOP, dtype="int32", value="A[i] < 0") == "parallel-nested"
    bare = CHECK.format("(!parallel_env_.in_parallel_loop) is false:")
    assert of_program(bare, LOOP, dtype="int32", value="A[i] < 0") == ""


@pytest.mark.parametrize(
    ("message", "value", "row"),
    [
        ("IndexError: Index 1 out of bounds 1", "R.nn.instance_norm(x, b, b, channel_axis=-1, axes=[1])", True),
        ("IndexError: Index 1 out of bounds 1", "R.add(x, x)", False),
        ("IndexError: Index out of range. size: 0, got index 0", "R.add(x, x)", False),
    ],
)
def test_an_index_that_is_out_of_bounds_says_nothing_without_the_operator(message, value, row):
    text = """@R.function
def main(x: R.Tensor((1, 2, 1), "float32"), b: R.Tensor((1,), "float32")):
    return {value}
"""
    assert of_program(message, text, value=value) == ("instance-norm-axis" if row else "")
    assert of_message(message) == ""  # an importer has no program of Relax


@pytest.mark.parametrize(
    ("words", "specific"),
    [
        ("Check failed: (a) is false: one two three four", True),
        ("Check failed: (a) is false: one two three", False),
        ("Check failed: (a && b && c && d && e) is false:", False),
        ("Check failed: a >= b (# vs. #) : one two three four", True),
        ("one two three four five", True),
        ("one two three four:", False),
        ("LLVM module verification failed with errors", False),
    ],
)
def test_which_messages_say_in_words_of_their_own_what_is_wrong(words, specific):
    assert is_specific(words) == specific


def test_rows_on_the_target_c_are_of_that_target_alone():
    module = read(LOOP.format(dtype="int32", value="T.popcount(A[i]) < 1"), "p.py")
    message = "InternalError: Unresolved call tirx.popcount"
    pattern = Pattern(failure_words(message))
    assert like_row(SAYS, pattern, message, module, of_c=True) == "c-functions"
    assert like_row(SAYS, pattern, message, module) == ""


def of_target_c(message, value="A[i] < 1"):
    module = read(LOOP.format(dtype="int32", value=value), "p.py")
    return like_row(SAYS, Pattern(failure_words(message)), message, module, of_c=True)


def test_of_rows_on_the_target_c_whose_messages_begin_alike_the_longer_one_counts():
    call = 'InternalError: Unresolved call ir.Op(span=None, ty=ir.Type(span=None), name="tirx.{}", description=""'
    assert of_target_c(call.format("assume")) == "c-assume"
    assert of_target_c(call.format("fabs")) == "c-functions"
    assert of_target_c("InternalError: Cannot convert type boolx4 to C type") == "c-bool-vectors"
    assert of_target_c("InternalError: Cannot convert type boolx3 to C type") == "c-bool-vectors"
    assert of_target_c("InternalError: Cannot convert type int4 to C type") == "c-int4"


@pytest.mark.parametrize(
    ("error", "row"),
    [
        ("‘half’ was not declared in this scope 12 | if (A", "c-float16"),
        ("‘inff’ was not declared in this scope 12 | X[0] = inff;", "c-infinity"),
        ("'inf' undeclared (first use in this function)", "c-infinity"),
        ("‘int32_t4’ was not declared in this scope; did you mean ‘int32_t’? 9 | A", "c-vectors"),
        ("‘float3’ was not declared in this scope 9 | A", "c-vectors"),
        ("lvalue required as unary ‘&’ operand 9 | A", "c-constant-reinterpret"),
        ("‘long’ was not declared in this scope 9 | A", ""),
    ],
)
def test_errors_of_a_c_compiler_tell_rows_apart(error, row):
    assert of_target_c(f"RuntimeError: Compilation error: /tmp/a/lib0.c:12:5: error: {error}") == row


@pytest.mark.parametrize(
    ("index", "row"),
    [("(1 - i) % 4", "reversed-modulo"), ("(3 - i) // 2", "reversed-divide"), ("(i - 1) % 4", ""), ("i", "")],
)
def test_another_result_that_no_row_looks_like_may_be_of_an_index_that_divides_a_difference(index, row):
    module = read(LOOP.format(dtype="int32", value=f"A[{index}] < 1"), "p.py")
    assert like_row(SAYS, Pattern("bool value", operators=frozenset({"popcount"})), module=module) == row


def test_a_cast_of_a_narrow_float_counts_and_no_other():
    message = CHECK.format("(from.MatchesCode(DLDataTypeCode::kDLFloat)) is false:")
    assert (
        of_program(message, LOOP, dtype="float4_e2m1fn", value="T.Cast('float32', A[i]) < T.float32(1)")
        == "float6-cast"
    )
    assert of_program(message, LOOP, dtype="float16", value="T.Cast('float32', A[i]) < T.float32(1)") == ""


def test_a_result_that_is_nan_is_like_a_row_of_another_size():
    operators = frozenset({"nn.attention"})
    assert like_row(SAYS, Pattern("float nan for finite", operators=operators)) == "attention-causal"
    assert like_row(SAYS, Pattern("float sign", operators=operators)) != "attention-causal"


@pytest.mark.parametrize(
    ("uses", "words", "row"),
    [
        ({("cast", "float32 float8_e5m2"), ("mul", "float32")}, "narrow float value far ", "cast-to-float8"),
        ({("cast", "float8_e4m3fn float32"), ("mul", "float32")}, "float value near ", "cast-from-float8"),
        ({("cast", "float8_e5m2 float32"), ("mul", "float8_e5m2")}, "float value ", "float8-arithmetic"),
        ({("cast", "float16 float32"), ("mul", "float32")}, "float value near ", ""),
        ({("mul", "float16")}, "half float value near ", ""),
    ],
)
def test_plain_operators_and_casts_count_where_floats_are_narrow(uses, words, row):
    assert like_row(SAYS, Pattern(words, uses=frozenset(uses))) == row
    operators = frozenset({"exp2"})
    assert like_row(SAYS, Pattern(words, operators=operators, uses=frozenset(uses))) == row


@pytest.mark.parametrize(
    ("operators", "words", "row"),
    [
        ({"nn.conv3d_transpose"}, "float nan for zero", "conv-transpose-infinity"),
        ({"nn.conv2d_transpose"}, "half float nan for finite", "conv-transpose-infinity"),
        ({"nn.conv3d_transpose"}, "float value", ""),  # it differs in another way
        ({"nn.conv3d_other"}, "float nan for zero", ""),
        ({"vision.roi_align", "nn.relu"}, "the result is a tensor # of dtype, the program", "roi-align-float16"),
        ({"vision.roi_align", "nn.relu"}, "half float value", ""),
    ],
)
def test_another_result_is_like_the_row_of_a_family_or_of_a_type(operators, words, row):
    assert like_row(SAYS, Pattern(words, operators=frozenset(operators))) == row


@pytest.mark.parametrize(
    ("got", "expected", "how"),
    [
        (["float32", [1.0, float("nan")]], ["float32", [1.0, 2.0]], "nan for finite"),
        (["float32", [[0.0], [5.0]]], ["float32", [[1.0], [5.0]]], "zero for finite"),
        ([["int8", [1]], ["float32", [float("inf")]]], [["int8", [1]], ["float32", [-2.0]]], "inf for finite"),
        (["float32", [float("nan")]], ["float32", [float("nan")]], ""),
        (None, ["float32", [1.0]], ""),
        (["float32", [1.0]], None, ""),
        (["float32", [1.0]], ["float16", [1.0]], "type"),
        (["int32", [[1]]], ["int32", [1]], "type"),
        (["int32", [], [0, 2]], ["int32", [], [2, 0]], "type"),
        ([["int8", 1], ["int8", 2]], [["int8", 1], ["int16", 2]], "type"),
        (["float32", 1.0], ["float32", 2.0], "finite for finite"),
    ],
)
def test_how_the_values_of_a_row_differ(got, expected, how):
    assert how_of(got, expected) == how


def test_nothing_is_like_a_result_without_an_operator_or_of_another_implementation():
    assert like_row(SAYS, Pattern("float value")) == ""
    assert like_row({"name": "mine 1"}, Pattern("float value", operators=frozenset({"exp10"}))) == ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Data type T.float8_e5m2 not supported", "Data type T.bfloat16 not supported"),
        ("LLVM: bitcast float %1 to i8", "LLVM: bitcast double %77 to half"),
        ("LLVM: no bitcast %1", "LLVM: no bitcast %1 no bitcast %2 no bitcast %3"),
        ("Check failed: (a == b) is false: loop i", "Check failed: (a == b) is false: loop j"),
        ("Offending call: R.f(x, i)", "Offending call: R.f(j, i)"),
    ],
)
def test_dtypes_and_names_of_the_program_are_no_part_of_a_message(one, other):
    assert failure_words(one, {"i", "j", "x"}) == failure_words(other, {"i", "j", "x"})


def test_the_condition_of_a_check_is_one_whatever_the_program_is_called():
    check = "Check failed: (i < j) is false: loop i"
    assert failure_words(check, {"i"}) == "Check failed: (i < j) is false: loop _"
    assert failure_words("InternalError: 3 is bad") == failure_words("DiagnosticError: error: 4 is bad") == "# is bad"
    assert failure_words("bitcast half to i8") == "bitcast half to i8"  # not of LLVM
    assert failure_words("power of boolean") == "power of boolean"


def test_an_article_is_no_name():
    check = "Check failed: (x) is false: A zero needs A of B"
    assert failure_words(check, {"A", "B"}) == "Check failed: (x) is false: A zero needs _ of _"
    assert failure_words("dtype of A differs", {"A"}) == "dtype of _ differs"
    assert failure_words("dtype of A differs", {"B"}) == "dtype of A differs"


def test_errors_of_several_places_differ_where_one_of_them_does():
    assert failure_words("LLVM: no bitcast %1 no bitcast %2") != failure_words("LLVM: no bitcast %1 no addition %2")


def test_names_of_a_program():
    text = "@T.prim_func\ndef main(A: T.Buffer((4,), 'int8'), n: T.int32):\n    for i in range(4):\n        A[i] = n\n"
    assert {"A", "n", "i"} <= names_in_program(read(text, "n.py"))
    graph = "@R.function\ndef main(x: R.Tensor((4,), 'float32')):\n    y = R.exp(x)\n    z = R.exp(y)\n    return z\n"
    assert {"x", "y", "z"} <= names_in_program(read(graph, "n.py"))


@pytest.mark.parametrize(
    ("operator", "dtype", "words", "row"),
    [
        ("topk", "bfloat16", "half float value", "topk-bfloat16"),  # of which TVM gives any value
        ("sort", "bfloat16", "half float sign", "sort-bfloat16"),
        ("sort", "float32", "float nan for zero", "sort-nan"),
        ("full", "bool", "bool value", "full-bool"),  # the program names the dtype in an attribute
        ("nn.avg_pool1d", "float32", "the result is a tensor # of dtype", "avg-pool-last-window"),
        ("nn.avg_pool1d", "int32", "the result is a tensor # of dtype", "avg-pool-int32"),
    ],
)
def test_the_dtype_decides_between_rows_of_one_operator(operator, dtype, words, row):
    pattern = Pattern(words, operators=frozenset({operator}), uses=frozenset({(operator, dtype)}))
    assert like_row(SAYS, pattern) == row


def test_no_row_of_an_undefined_program_is_like_another_result():
    uses = frozenset({("gt", "int32"), (f"gt{OF_CAST}", "*"), (f"an operator{OF_CAST}", "*")})
    pattern = Pattern("bool value", operators=frozenset({"gt"}), uses=uses)
    assert like_row(SAYS, pattern) in ("narrow-cast-compare", "narrow-cast-signed", "narrow-arithmetic")


def test_a_comparison_of_narrow_floats_is_not_that_of_others():
    uses = frozenset({("eq", "float8_e5m2")})
    assert like_row(SAYS, Pattern("bool value", operators=frozenset({"eq"}), uses=uses)) == "float8-comparison"


def test_a_message_alone_decides_where_a_row_has_no_operator():
    message = CHECK.format("index_lanes == value_dtype.lanes() (1 vs. 4) : ")
    assert of_program(message, LOOP, dtype="bool", value="A[i]") == "vector-elements"
    assert of_program(CHECK.format("other_lanes == 1 (1 vs. 4) : "), LOOP, dtype="bool", value="A[i]") == ""


@pytest.mark.parametrize(
    ("value", "row"),
    [
        ('R.nn.conv2d_transpose(x, y, data_layout="NHWC", kernel_layout="HWIO")', "transpose-layout"),
        ('R.nn.max_pool2d(x, [1, 1], layout="NCHW", out_layout="NHWC")', "out-layout"),
        ("R.nn.relu(x)", ""),
    ],
)
def test_a_short_message_is_that_of_an_operator_of_relax(value, row):
    text = "InternalError: CodeGenVM cannot emit this Relax operator directly. Run the appropriate lowering pass"
    tensor = 'R.Tensor((1, 1, 1, 1), "float32")'
    graph = f"@R.function\ndef main(x: {tensor}, y: {tensor}):\n    return {value}\n"
    assert of_program(text, graph.replace("{", "{{").replace("}", "}}")) == row


ROUNDED = frozenset({("cast", "float16 bfloat16"), ("cast", "bfloat16 float16"), ("fmod", "bfloat16")})
SUM, DIFFERENCE = ({(name, "float64"), ("isinf", "float64")} for name in ("add", "sub"))


@pytest.mark.parametrize(
    ("guilty", "uses", "operators", "words", "row"),
    [
        ("tirx.BF16ComputeLegalize", ROUNDED, {"fmod"}, "half float value", "cast-to-bfloat16-left-out"),
        ("tirx.BF16ComputeLegalize", ROUNDED, {"fmod"}, "half float inf for nan", ""),  # its row has no NaN
        ("tirx.FlattenBuffer", ROUNDED, {"fmod"}, "half float value", ""),  # of another pass
        ("after the passes", ROUNDED, {"fmod"}, "half float value", ""),  # that says nothing
        ("", ROUNDED, {"fmod"}, "half float value", ""),
        ("s_tir.StmtSimplify", DIFFERENCE, {"isinf"}, "float zero for nan", "minus-self"),
        ("s_tir.StmtSimplify", SUM, {"isinf"}, "float zero for nan", ""),
        ("s_tir.StmtSimplify", SUM, {"isinf"}, "float zero for zero", "plus-zero"),
        ("s_tir.StmtSimplify", DIFFERENCE, {"isinf"}, "float value", ""),
        ("after the passes", {("tan", "float16")}, {"tan"}, "half float inf for nan", "tan-quotient"),
        ("", {("tan", "float16")}, {"tan"}, "half float inf for nan", ""),
        ("", {("tan", "float16")}, {"tan"}, "half float value", "tan-quotient"),
        ("tirx.FP8ComputeLegalize", {("fma", "float8_e4m3fnuz")}, {"fma"}, "narrow float value", "float8-arithmetic"),
        ("tirx.BF16ComputeLegalize", {("tan", "float16")}, {"tan"}, "half float inf for nan", ""),
        ("tirx.BF16ComputeLegalize", {("tan", "float16")}, {"tan"}, "half float value", ""),  # its row is of none
    ],
)
def test_the_guilty_pass_decides_between_rows(guilty, uses, operators, words, row):
    pattern = Pattern(words, operators=frozenset(operators), uses=frozenset(uses))
    assert like_row(SAYS, pattern, guilty=guilty) == row


@pytest.mark.parametrize(
    ("of_c", "dtype", "row"), [(True, "uint8", "c-narrow"), (False, "uint8", ""), (True, "int64", "")]
)
def test_arithmetic_on_narrow_integers_is_one_operator_on_the_target_c(of_c, dtype, row):
    pattern = Pattern("uint value", operators=frozenset({"ceildiv"}), uses=frozenset({("ceildiv", dtype)}))
    assert like_row(SAYS, pattern, of_c=of_c, guilty="after the passes") == row


def test_a_word_of_a_message_that_a_row_has_as_a_name_is_no_name_elsewhere():
    said = "ValueError: list.remove(x): x not in list"
    for name in ("x", "x1"):
        text = f"@R.function\ndef main({name}: R.Tensor((2,), 'float64')):\n    return R.nn.relu({name})\n"
        text = text.replace(
            f"R.nn.relu({name})", f"R.nn.batch_norm({', '.join([name] * 5)}, axis=-1, training=True)[0]"
        )
        module = read(text)
        words = failure_words(said, names_in_program(module))
        assert like_row(SAYS, Pattern(words), said, module) == "batch-norm-axis"


def test_a_row_that_says_no_more_than_that_a_check_failed_gives_way():
    """Both rows have something of the program: two loops in parallel, and an order of bools."""
    text = LOOP.format(dtype="bool", value="A[i] < A[0]")
    said = "InternalError: Check failed: "
    nested = f"{said}(!parallel_env_.in_parallel_loop) is false: Nested parallel loop is not supported by threadpool"
    assert of_program(nested, text) == "parallel-nested"
    assert of_program(f"{said}lhs.dtype().is_float()", text) == "bool-order"
