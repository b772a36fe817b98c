"""`tvm.relax.frontend.nn`: models written as modules of weights and operators, exported to an `IRModule`.

>>> class MLP(nn.Module):
...     def __init__(self):
...         self.fc = nn.Linear(784, 10)
...     def forward(self, x):
...         return nn.op.relu(self.fc(x))
>>> mod, params = MLP().export_tvm({"forward": {"x": nn.spec.Tensor((1, 784), "float32")}})

| file             | defines                                                       |
|------------------|---------------------------------------------------------------|
| `module`         | `Module` and its containers                                   |
| `layers`         | `Linear`, `Conv2D`, `LayerNorm` …                             |
| `tensor`         | `Tensor`, `Parameter`, `Object`, with operators of Python     |
| `op`             | operators by TVM's names; also members of this package        |
| `layer_op`       | those of them that layers are made of                         |
| `function_calls` | operators that call functions: `tensor_expr_op`, `extern` …   |
| `spec`           | what methods take                                             |
| `export`         | the tracing of methods                                        |
| `tracing`        | the builder at this moment                                    |
| `compiled`       | what `jit` gives                                              |
| `visitor`        | `Mutator`                                                     |
| `llm`            | caches of language models, for an export                      |

Caches, debug mode, subroutines and external sources are refused by name.
"""

from collections.abc import Mapping

from refmlc.tvm.missing_names import refusal
from refmlc.tvm.nodes import NodeClass
from refmlc.tvm.relax.frontend.nn import op, spec
from refmlc.tvm.relax.frontend.nn.layers import (
    GELU,
    Conv1D,
    Conv2D,
    Conv3D,
    ConvTranspose1D,
    Embedding,
    GroupNorm,
    Identity,
    LayerNorm,
    Linear,
    ReLU,
    RMSNorm,
    SiLU,
)
from refmlc.tvm.relax.frontend.nn.module import (
    Effect,
    Module,
    ModuleDict,
    ModuleList,
    ParameterDict,
    ParameterList,
)
from refmlc.tvm.relax.frontend.nn.tensor import Object, Parameter, Tensor
from refmlc.tvm.relax.frontend.nn.visitor import Mutator

ExternModule = NodeClass("nn.ExternModule", lambda _: False)
"""For annotations: refmlc compiles no sources of others, so that none is made."""

NONE_OF_OURS: Mapping[str, str] = {
    "KVCache": "it is a value that changes between calls, and refmlc exports no effects",
    "IOEffect": "refmlc exports no effects",
    **dict.fromkeys(("ObjectModule", "SourceModule", "add_extern"), "refmlc compiles no sources of others"),
    **op.NONE_OF_OURS,
}

__all__ = [
    "GELU",
    "Conv1D",
    "Conv2D",
    "Conv3D",
    "ConvTranspose1D",
    "Effect",
    "Embedding",
    "ExternModule",
    "GroupNorm",
    "Identity",
    "LayerNorm",
    "Linear",
    "Module",
    "ModuleDict",
    "ModuleList",
    "Mutator",
    "Object",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "RMSNorm",
    "ReLU",
    "SiLU",
    "Tensor",
    "op",
    "spec",
]

_PLACES = {name: f"refmlc.tvm.relax.frontend.nn.op:{name}" for name in op.__all__}
_PLACES |= {"llm": "refmlc.tvm.relax.frontend.nn.llm"}

__getattr__ = refusal(__name__, (*__all__, *op.__all__), _PLACES, reasons=NONE_OF_OURS)
