"""The programs that are measured, as TVM prints them; extents and dtypes are names, filled in by `program`.

| text                                        | is                                                  |
|---------------------------------------------|-----------------------------------------------------|
| matmul, matmul_nt, matmul_int8, elementwise | what `create_prim_func` makes of tensor expressions |
| softmax, layernorm, conv2d, exp             | what `LegalizeOps` makes of Relax operators         |
| mlp                                         | the course's network of two layers, sizes open      |
| softmax_cuda                                | a stage of the lowering for CUDA: `StorageRewrite`  |
| paged_decode_cuda                           | the decode kernel of the paged cache, for CUDA      |
| `resnet`                                    | ResNet-18, written by a function                    |

`tests/e2e/test_bench_texts.py` lets TVM 0.27 print them again and compares to the letter.
"""

from importlib.resources import files
from string import Template


def program(name: str, **names: int | str) -> str:
    """The text called `name` with its extents and dtypes filled in."""
    text = files("refmlc.tools.bench.texts").joinpath(f"{name}.tvmscript").read_text(encoding="utf-8")
    return Template(text).substitute(names)
