"""Tiled nests touch no element that is not there: every kind under the sanitizers, on buffers without room to spare."""

import subprocess

import numpy as np
import pytest
from nest_kit import HEADERS, HERE_ISAS, SOAK, buffers_of, form_of, frame, function
from test_codegen_tile_bits import KINDS

from refmlc.lang.dtypes import dtype
from refmlc.native.options import ISAS
from refmlc.run.memory.cells import cell_size

FLAGS = ("-O1", "-std=gnu11", "-fsanitize=address,undefined", "-fno-sanitize-recover", "-ffp-contract=off", "-fwrapv")
ISA = HERE_ISAS[0]
FEW = ["matmul transposed", "conv2d", "transpose", "padded", "moments", *(kind for kind in KINDS if "many" in kind)]


def program(cases):
    """C that runs each nest on fresh memory."""
    forms = [form_of(nest, ISA) for nest, _ in cases]
    lines = frame([nest for nest, _ in cases], forms)
    main = ["int main(void) {", "int status = 0;"]
    for number, ((nest, sizes), form) in enumerate(zip(cases, forms, strict=True)):
        lines += function(f"tiled_{number}", nest, form.lines)
        main.append("{ void *b[8];")
        for place, buffer in enumerate(buffers_of(nest)):
            kind, count = sizes[buffer.name]
            size = count * cell_size(dtype(kind))
            main.append(f"b[{place}] = malloc({size}); memset(b[{place}], 1, {size});")
        main.append(f"status |= tiled_{number}(b);")
        main += [f"free(b[{place}]);" for place in range(len(buffers_of(nest)))]
        main.append("}")
    return "\n".join([*lines, *main, "return status;", "}"]) + "\n"


@pytest.mark.needs("compiler")
@pytest.mark.parametrize("kind", KINDS if SOAK else FEW)
def test_no_element_that_is_not_there(kind, tmp_path):
    make, dtypes = KINDS[kind]
    rng = np.random.default_rng(len(kind))
    cases = [make(rng, each) for each in (dtypes if SOAK else dtypes[:3]) for _ in range(4 if SOAK else 1)]
    source, binary = tmp_path / "all.c", tmp_path / "all"
    source.write_text(program(cases))
    command = ["gcc", *FLAGS, *ISAS[ISA].flags, f"-I{HEADERS}", str(source), "-o", str(binary), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([str(binary)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
