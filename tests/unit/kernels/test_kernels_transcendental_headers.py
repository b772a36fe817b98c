"""The headers of the transcendentals: complete, clean under every compiler, without calls where none is needed."""

import re
import subprocess

import pytest
from test_kernels_headers import SANITIZED, every_point, table
from wrappers import DTYPES, FLAGS, HEADERS, STRICT, compiled, compiler, operator_helper, strict_flags

from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.native import kernels

MODES = {"cr": "", "libm": "#define RM_MATH_LIBM\n"}
FLOATS = [dtype for dtype in DTYPES if dtype.is_float]
NAMES = [name for name in SCALAR_OPS if kernels.header_of(name) == kernels.TRANSCENDENTAL_HEADER]
HELPERS = [operator_helper(SCALAR_OPS[name].contract, dtype) for name in NAMES for dtype in FLOATS]
INCLUDE = '#include "rm_transcendental.h"\n'
ALONE = ("rm_exponential.h", "rm_hypot.h", "rm_platform.h", "rm_transcendental.h")
PLAIN = ("exp", "sigmoid", "tanh", "erf", "log", "sqrt", "rsqrt")


def text(mode):
    return "#define RM_USE_ALL\n" + MODES[mode] + INCLUDE


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_all_helpers_are_clean(tmp_path, name, mode):
    source = text(mode) + "".join(helper.wrapper for helper in HELPERS)
    compiled([compiler(name), "-O0", "-c", *strict_flags(name)], source, tmp_path / "all.o")


@pytest.mark.parametrize("header", ALONE)
@pytest.mark.parametrize("used", ["-DRM_USE_ALL", "-DRM_USE_bfloat16", "-DRM_USE_float64"])
def test_each_header_stands_alone(tmp_path, header, used):
    main = f'#include "{header}"\nint main(void) {{ return 0; }}\n'
    for mode in ((), ("-DRM_MATH_LIBM",)):
        compiled([compiler("gcc"), *STRICT, "-fsyntax-only", used, *mode], main, tmp_path / "main")


@pytest.mark.parametrize("mode", MODES)
def test_helpers_are_those_of_the_contracts(mode):
    command = [compiler("gcc"), "-E", "-P", f"-I{HEADERS}", "-x", "c", "-"]
    output = subprocess.run(command, input=text(mode), capture_output=True, text=True, check=True).stdout
    there = set(re.findall(r"\b(rm_\w+)\s*\([^()]*\)\s*\{", output))
    wanted = {helper.name for helper in HELPERS} | {f"{h.name}_undefined" for h in HELPERS if h.undefined}
    dtypes = "|".join(dtype.element for dtype in FLOATS)
    assert {name for name in there if re.fullmatch(rf"rm_({'|'.join(NAMES)})_({dtypes})(_undefined)?", name)} == wanted


def program(mode):
    tables = "".join(map(table, FLOATS))
    fills = "".join(f"  fill_{dtype.element}();\n" for dtype in FLOATS)
    tries = "".join(f"  try_{helper.name}();\n" for helper in HELPERS)
    return (
        text(mode)
        + "#include <stdio.h>\nstatic volatile double sink;\n"
        + tables
        + "".join(map(every_point, HELPERS))
        + f'int main(void) {{\n{fills}{tries}  puts("done");\n  return 0;\n}}\n'
    )


@pytest.mark.parametrize("mode", MODES)
def test_no_operand_is_undefined_behaviour_in_c(tmp_path, mode):
    path = compiled([compiler("gcc"), "-std=c11", "-O0", *FLAGS, *SANITIZED], program(mode), tmp_path / "program")
    done = subprocess.run([str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


@pytest.mark.parametrize("mode", MODES)
def test_tcc_compiles_and_runs_everything(tmp_path, mode):
    path = compiled([compiler("tcc")], program(mode), tmp_path / "program")
    assert subprocess.run([str(path)], capture_output=True, text=True, check=True).stdout == "done\n"


def assembly(source, folder, *flags):
    target = folder / "loop.s"
    compiled([compiler("gcc"), "-S", "-c", *FLAGS, *flags], source, target)
    return target.read_text(encoding="ascii")


@pytest.mark.parametrize("op", PLAIN)
def test_a_loop_becomes_vector_code_without_calls(tmp_path, op):
    if (
        "x86_64"
        not in subprocess.run([compiler("gcc"), "-dumpmachine"], capture_output=True, text=True, check=True).stdout
    ):
        pytest.skip("the registers are named as x86-64 names them")
    loop = f"for (int i = 0; i < 4096; i++) y[i] = rm_{op}_float32(x[i]);"
    source = f"#define RM_USE_float32\n{INCLUDE}void loop(const float *restrict x, float *restrict y) {{ {loop} }}\n"
    code = assembly(source, tmp_path, "-O3", "-mavx512f", "-mprefer-vector-width=512")
    assert "call" not in code
    assert "jmp\t" not in code
    assert "zmm" in code


@pytest.mark.parametrize("mode", MODES)
def test_the_compiler_does_not_compute_what_the_library_should(tmp_path, mode):
    """A constant operand, an exponent of 2: gcc folds both where it knows the function, with other last bits."""
    body = "return rm_exp_float64(0.1) + rm_pow_float64(x, 2.0) + rm_pow_float64(x, 0.5);"
    source = f"#define RM_USE_float64\n{MODES[mode]}{INCLUDE}double f(double x) {{ {body} }}\n"
    called = re.findall(r"call\s+(\w+)", assembly(source, tmp_path, "-O3"))
    assert sorted(called) == ["exp", "pow", "pow"]
