"""How each generation of TVMScript spells a construct: the one table that reader and printer share.

| generation | where people meet it                                                          |
|------------|-------------------------------------------------------------------------------|
| `2022`     | the first edition of the course, TVM 0.9 to 0.11: `T.Buffer[(n,), "float32"]` |
| `2023`     | TVM 0.12 to 0.20: `tvm.script.tir`, `T.block`, `out_sinfo=`                   |
| `0.27`     | TVM 0.27: `tvm.script.tirx`, `T.sblock`, `out_ty=`, `TypeVar` shape variables |

A construct's canonical name is its spelling in 0.27, from the namespaces `T`, `R` and `I`. The reader takes every
spelling in every text; only what one spelling means in two ways depends on the generation:

| text                                | 2022, 2023                            | 0.27                               |
|-------------------------------------|---------------------------------------|------------------------------------|
| `A = T.alloc_buffer(…)`             | allocated by the enclosing block      | a statement, `AllocBuffer`         |
| `x = e`, `x: T.int32 = e`           | `Bind`: x is e                        | a scalar buffer holding e, mutable |

Decision: the generation of a function is what its own spellings say, else those of the whole text, else 0.27.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Generation: TypeAlias = Literal["2022", "2023", "0.27"]
GENERATIONS: tuple[Generation, ...] = ("2022", "2023", "0.27")


@dataclass(frozen=True, slots=True)
class Spelling:
    """A row: the canonical name, the spelling in each generation, and further ones that are read, never shown."""

    name: str
    y2022: str
    y2023: str
    v027: str
    also: tuple[str, ...] = ()

    def of(self, generation: Generation) -> str:
        """The spelling that `generation` shows."""
        return {"2022": self.y2022, "2023": self.y2023, "0.27": self.v027}[generation]


def _same(name: str, *also: str) -> Spelling:
    return Spelling(name, name, name, name, also)


CONSTRUCTS: tuple[Spelling, ...] = (
    Spelling("I.ir_module", "tvm.script.ir_module", "I.ir_module", "I.ir_module"),
    _same("I.TypeVar", "typing.TypeVar"),
    _same("I.pyfunc"),
    # TensorIR
    _same("T.prim_func", "tvm.script.prim_func"),
    Spelling("T.sblock", "T.block", "T.block", "T.sblock"),
    Spelling("T.sblock_attr", "T.block_attr", "T.block_attr", "T.sblock_attr"),
    Spelling("T.sblock_alloc_buffer", "T.alloc_buffer", "T.alloc_buffer", "T.sblock_alloc_buffer"),
    _same("T.axis.spatial", "T.axis.S", "T.axis.Spatial"),
    _same("T.axis.reduce", "T.axis.R", "T.axis.Reduce"),
    _same("T.axis.scan", "T.axis.Scan"),
    _same("T.axis.opaque", "T.axis.Opaque"),
    _same("T.vectorized", "T.vectorize"),
    _same("T.unroll", "T.unrolled"),
    _same("T.decl_buffer", "T.buffer_decl"),
    _same("T.Buffer", "T.buffer"),
    _same("T.attr", "T.attribute"),
    _same("T.Bind", "T.bind"),
    _same("T.let", "T.LetStmt"),
    _same("T.Assert"),
    _same("T.bool", "T.boolean"),
    _same("T.ret"),
    _same("T.Cast", "T.cast"),
    _same("T.Select"),
    _same("T.Ramp", "T.ramp"),
    _same("T.Broadcast", "T.broadcast"),
    _same("T.Shuffle", "T.shuffle"),
    _same("T.call_extern"),
    _same("T.address_of"),
    _same("T.Range", "I.Range"),
    # Relax
    Spelling("R.Any", "R.Object", "R.Object", "R.Any"),
    _same("R.function", "tvm.script.relax.function"),
)
"""Constructs of which some generation spells the name in its own way; the names of operators are in their rows."""

KEYWORDS: tuple[Spelling, ...] = (
    Spelling("out_ty", "", "out_sinfo", "out_ty"),
    Spelling("ty_args", "", "sinfo_args", "ty_args"),
    Spelling("func_ty", "", "func_sinfo", "func_ty"),
)
"""Names of arguments that changed. An empty spelling: the generation has no such argument."""

ATTRIBUTES: tuple[Spelling, ...] = (
    Spelling("tirx.noalias", "tir.noalias", "tir.noalias", "tirx.noalias"),
    Spelling("tirx.is_scheduled", "tir.is_scheduled", "tir.is_scheduled", "tirx.is_scheduled"),
    Spelling("tirx.is_entry_func", "tir.is_entry_func", "tir.is_entry_func", "tirx.is_entry_func"),
    Spelling("tirx.is_global_func", "tir.is_global_func", "tir.is_global_func", "tirx.is_global_func"),
    Spelling("tirx.is_host_func", "tir.is_host_func", "tir.is_host_func", "tirx.is_host_func"),
    Spelling(
        "tirx.kernel_launch_params", "tir.kernel_launch_params", "tir.kernel_launch_params", "tirx.kernel_launch_params"
    ),
)
"""Keys of function attributes that changed."""

NAMESPACES: dict[str, str] = {
    "tvm.script.tir": "T",
    "tvm.script.tirx": "T",
    "tvm.tir": "T",
    "tvm.tirx": "T",
    "tir": "T",
    "tirx": "T",
    "tvm.script.parser.tir": "T",
    "tvm.script.parser.tirx": "T",
    "tvm.script.parser.relax": "R",
    "tvm.script.parser.ir": "I",
    "tvm.script.relax": "R",
    "tvm.relax": "R",
    "relax": "R",
    "tvm.script.ir": "I",
    "tvm.ir": "I",
    "tvm.tirx.layout": "T",
    "tvm.tirx.script.tile": "T.tile",
    "T.Axis": "Axis",
    "T.tile.thread": "T.tile",
    "T.tile.warp": "T.warp",
    "T.tile.wg": "T.wg",
    "T.tile.warpgroup": "T.wg",
    "T.warpgroup": "T.wg",
    "T.tile.cta": "T.cta",
    "T.tile.cluster": "T.cluster",
}
"""Namespaces by the names that they are imported from."""

PRELUDE: dict[str, str] = {
    "T": "T",
    "R": "R",
    "I": "I",
    "tvm": "tvm",
    "relax": "R",
    "tir": "T",
    "tirx": "T",
    "Tensor": "R.Tensor",
    "Shape": "R.Shape",
    "Object": "R.Any",
    "Tuple": "R.Tuple",
    "Callable": "R.Callable",
    "relay": "relay",
    "metadata": "metadata",
    "meta": "metadata",
    "TypeVar": "I.TypeVar",
    "Axis": "Axis",
    "Tx": "T.tile",
}
"""What a text that imports nothing may name."""


def _reversed(rows: tuple[Spelling, ...]) -> dict[str, str]:
    spelled = {name: row.name for row in rows for name in (row.y2022, row.y2023, row.v027, *row.also) if name}
    spelled.pop("T.alloc_buffer", None)  # its meaning depends on the generation
    return spelled


_CONSTRUCT_OF = _reversed(CONSTRUCTS)
_KEYWORD_OF = _reversed(KEYWORDS)
_ATTRIBUTE_OF = _reversed(ATTRIBUTES)
_ROWS = {row.name: row for row in (*CONSTRUCTS, *KEYWORDS, *ATTRIBUTES)}


def canonical(path: str) -> str:
    """The canonical name of a dotted name of the language, in whatever generation's spelling."""
    for prefix in (path, path.rpartition(".")[0]):
        if prefix in NAMESPACES:
            path = NAMESPACES[prefix] + path[len(prefix) :]
            break
    return _CONSTRUCT_OF.get(path, path)


def canonical_keyword(name: str) -> str:
    """The canonical name of an argument: `out_sinfo` is `out_ty`."""
    return _KEYWORD_OF.get(name, name)


def canonical_attribute(key: str) -> str:
    """The canonical key of a function attribute: `tir.noalias` is `tirx.noalias`."""
    return _ATTRIBUTE_OF.get(key, key)


def spelled(name: str, generation: Generation = "0.27") -> str:
    """How `generation` spells the construct, argument or attribute key of canonical name `name`."""
    row = _ROWS.get(name)
    return name if row is None else row.of(generation)
