"""The headers themselves: complete, clean under every compiler, quick to include, without undefined behaviour in C."""

import math
import re
import subprocess

import numpy as np
import pytest
from points import boundary, chance, differing, first_lines, value_type
from test_kernels_operators import EXPONENTS
from wrappers import (
    DTYPES,
    FAMILIES,
    FLAGS,
    HEADERS,
    INCLUDES,
    OWN,
    STRICT,
    Library,
    cast_helpers,
    cell_helpers,
    cell_wrappers,
    compiled,
    compiler,
    definitions,
    operator_helpers,
    reinterpret_helpers,
    strict_flags,
)

from refmlc.lang.dtypes import SCALARS
from refmlc.lang.ops.contract import UndefinedValue
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.native import kernels

OPERATORS, CASTS, REINTERPRETS, CELLS = operator_helpers(), cast_helpers(), reinterpret_helpers(), cell_helpers()
EVERYTHING = [*OPERATORS.values(), *CASTS.values(), *REINTERPRETS.values(), *CELLS.values()]
TEXT = "#define RM_USE_ALL\n" + INCLUDES + cell_wrappers() + definitions(CASTS, REINTERPRETS)
SANITIZED = ("-fsanitize=undefined,address,float-cast-overflow", "-fno-sanitize-recover=all", "-g0")
C_DTYPES = {f"rm_{dtype.element}": dtype for dtype in DTYPES}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_each_header_stands_alone(tmp_path, name, family):
    main = f'#include "rm_{family}.h"\nint main(void) {{ return 0; }}\n'
    for used in ("-DRM_USE_ALL", "-DRM_USE_float16"):
        compiled([compiler(name), *STRICT, "-fsyntax-only", used], main, tmp_path / "main")


def test_all_conversions_are_clean_under_clang(tmp_path):
    source = TEXT + "".join(helper.wrapper for helper in (*CASTS.values(), *REINTERPRETS.values()))
    compiled([compiler("clang"), "-O0", "-c", *strict_flags("clang")], source, tmp_path / "all.o")


def undefined_names(helpers):
    return {f"{helper.name}_undefined" for helper in helpers if helper.undefined}


def test_helpers_are_those_of_the_contracts(tmp_path):
    """Every operator and dtype has its helper, and `_undefined` exactly where it can be; nothing else is there."""
    source = "#define RM_USE_ALL\n" + INCLUDES
    command = [compiler("gcc"), "-E", "-P", f"-I{HEADERS}", "-x", "c", "-"]
    text = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    there = set(re.findall(r"\b(rm_\w+)\s*\([^()]*\)\s*\{", text))
    wanted = {helper.name for helper in OPERATORS.values()} | undefined_names(OPERATORS.values())
    cells = {f"rm_{verb}_{dtype.element}" for dtype in DTYPES for verb in ("get", "put", "encode", "decode")}
    assert wanted - there == set()
    assert cells - there == set()
    operators = "|".join(contract.name for contract in OWN)
    ops_there = {name for name in there if re.fullmatch(rf"rm_({operators})_({'|'.join(SCALARS)})(_undefined)?", name)}
    assert ops_there == wanted


def test_every_operator_has_a_header_and_only_named_dtypes_are_defined():
    source = '#define RM_USE_int32\n#define RM_USE_bfloat16 1\n#include "rm_arith.h"\n'
    command = [compiler("gcc"), "-E", "-P", f"-I{HEADERS}", "-x", "c", "-"]
    text = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"\brm_add_(\w+?)\(", text)) == {"int32", "int32_undefined", "bfloat16"}
    assert {kernels.header_of(name) for name in SCALAR_OPS} == {
        *(f"rm_{family}.h" for family in FAMILIES),
        kernels.TRANSCENDENTAL_HEADER,
    }


def test_operands_that_the_helpers_take():
    per_axis = [SCALARS[name] for name in ("int32", "int32", "int16", "uint8", "int64", "bool", "bool")]
    assert kernels.supports("q_multiply_shift_per_axis", per_axis)
    assert not kernels.supports("q_multiply_shift_per_axis", [*per_axis[:4], SCALARS["uint64"], *per_axis[5:]])
    assert kernels.supports("ldexp", [SCALARS["bfloat16"], SCALARS["int64"]])
    assert not kernels.supports("ldexp", [SCALARS["bfloat16"], SCALARS["float32"]])
    assert kernels.supports("add", [SCALARS["uint64"], SCALARS["uint64"]])
    assert not kernels.supports("add", [SCALARS["bool"], SCALARS["bool"]])


def test_the_nan_of_numbers_is_known_where_a_dtype_has_none():
    """All operands of the finite formats, transcendentals included: the value functions raise where it is said."""
    for dtype in (dtype for dtype in DTYPES if dtype.is_float and not dtype.format.has_nan):
        values = boundary(dtype)
        for row in SCALAR_OPS.values():
            contract = row.contract
            if contract.rest or contract.result != "same" or not contract.accepts_dtype(dtype):
                continue
            pairs = [(a,) for a in values] if contract.arity == 1 else [(a, b) for a in values for b in values]
            function = row.value((dtype,) * contract.arity, dtype)
            assert kernels.has_undefined(contract.name, dtype) == any(raises(function, pair) for pair in pairs), (
                contract
            )


def raises(function, operands):
    try:
        function(*operands)
    except UndefinedValue:
        return True
    return False


def literal(dtype, value):
    if dtype.is_float:
        number = "NAN" if value != value else "INFINITY" if abs(value) == math.inf else abs(value).hex()  # noqa: PLR0124
        return f"-{number}" if value < 0 else number
    return f"{int(value)}ULL" if value >= 0 else f"(-{-value - 1}LL - 1)"


def points_of(dtype):
    """At most 28 of the boundaries and random values, evenly spread."""
    values = boundary(dtype)
    return [*values[:: max(1, -(-len(values) // 24))], *chance(dtype, 4, 3)]


def table(dtype):
    """An array of values, filled when the program starts: NaN is no constant in every compiler."""
    c_type, name = f"rm_{dtype.element}", f"points_{dtype.element}"
    values = points_of(dtype)
    lines = "".join(f"  {name}[{i}] = ({c_type}){literal(dtype, value)};\n" for i, value in enumerate(values))
    return f"static {c_type} {name}[{len(values)}];\nstatic void fill_{dtype.element}(void) {{\n{lines}}}\n"


def every_point(helper):
    """C that calls a helper on every choice of points."""
    tables = ["exponents" if c in ("int64_t", "double") else f"points_{c[3:]}" for c in map(plain, helper.operands)]
    if len(tables) > 2:
        tables = ["points_int32"] * 2 + ["counts"] * (len(tables) - 2)
    loops = "".join(
        f"for (size_t i{k} = 0; i{k} < sizeof {name} / sizeof *{name}; i{k}++)\n" for k, name in enumerate(tables)
    )
    arguments = ", ".join(f"({c}){name}[i{k}]" for k, (c, name) in enumerate(zip(helper.operands, tables, strict=True)))
    body = f"sink += (double){helper.name}({arguments});"
    body += f" sink += {helper.name}_undefined({arguments});" if helper.undefined else ""
    return f"static void try_{helper.name}(void) {{\n{loops}{{ {body} }}\n}}\n"


def plain(operand):
    """The table to take operands from: codes come from the values of unsigned integers."""
    if operand.endswith("_work"):
        return operand.removesuffix("_work")
    if operand.endswith("_code"):
        return "rm_uint8"
    return "rm_uint8" if operand == "uint8_t" else operand


def program(helpers):
    numbers = ", ".join(f"{number}LL" for number in EXPONENTS)
    return (
        TEXT
        + "#include <stdio.h>\nstatic volatile double sink;\n"
        + f"static const int64_t exponents[] = {{{numbers}}};\nstatic const int64_t counts[] = {{-1, 0, 1, 31, 64}};\n"
        + "".join(map(table, DTYPES))
        + "".join(map(every_point, helpers))
        + "int main(void) {\n"
        + "".join(f"  fill_{dtype.element}();\n" for dtype in DTYPES)
        + "".join(f"  try_{helper.name}();\n" for helper in helpers)
        + '  puts("done");\n  return 0;\n}\n'
    )


@pytest.mark.parametrize(
    "helpers", [[*OPERATORS.values(), *CELLS.values()], [*CASTS.values(), *REINTERPRETS.values()]], ids=["ops", "casts"]
)
def test_no_operand_is_undefined_behaviour_in_c(tmp_path, helpers):
    """UBSan and ASan stop at the first one; operands for which the contract is undefined are among them."""
    path = compiled([compiler("gcc"), "-std=c11", "-O0", *FLAGS, *SANITIZED], program(helpers), tmp_path / "program")
    done = subprocess.run([str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_tcc_compiles_and_runs_everything(tmp_path):
    path = compiled([compiler("tcc")], program(EVERYTHING), tmp_path / "program")
    assert subprocess.run([str(path)], capture_output=True, text=True, check=True).stdout == "done\n"


def test_the_plain_way_and_the_builtins_say_the_same(operators, tmp_path):
    """RM_PLAIN leaves out what only gcc and clang have."""
    helpers = [OPERATORS[op, name] for op in ("add", "sub", "mul") for name in ("int64", "uint64")]
    plainly = Library.build(tmp_path, "plain", helpers, cell_wrappers(), ("-DRM_PLAIN",))
    for helper in helpers:
        dtype = C_DTYPES[helper.result]
        edges = [*boundary(dtype), *chance(dtype, 200, 8)]
        pairs = np.array([(a, b) for a in edges for b in edges], value_type(dtype))
        columns = [np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])]
        found, wanted = (library.call(helper, columns, value_type(dtype)) for library in (plainly, operators))
        assert first_lines(found[1] != wanted[1], columns, found[1], wanted[1]) == []
        assert first_lines(differing(found[0], wanted[0]), columns, found[0], wanted[0]) == []
