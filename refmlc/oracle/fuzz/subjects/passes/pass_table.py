"""The passes of TVM that campaigns of kind `passes` examine, as data: what each may stand behind, options, programs.

A module is lowered by the steps of a `PassFamily`, its ladder. A pass may stand behind some rungs and before others.

| column    | says                                                                                       |
|-----------|--------------------------------------------------------------------------------------------|
| `name`    | the pass, as `tvm_side/run_passes` takes it                                                |
| `low`     | how many rungs of the ladder must stand before it                                          |
| `high`    | how many may                                                                               |
| `options` | the arguments that are drawn, as they are spelled; `config=…` are options of `PassContext` |
| `after`   | passes that must stand before it, below the same rung or earlier                           |
| `narrows` | the dtype to which the pass is documented to round numbers besides; empty: to none          |
| `aims`    | programs of `programs` aimed at it; words at which their names begin                  |

`LEFT_OUT` says of the others why they are not drawn.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Pass:
    """A row of the table."""

    name: str
    low: int
    high: int
    options: tuple[str, ...] = ("",)
    after: tuple[str, ...] = ()
    aims: tuple[str, ...] = ()
    narrows: str = ""


@dataclass(frozen=True)
class PassFamily:
    """Passes that work on modules of one dialect. `ladder`: the passes that lower one; each rung may have several."""

    name: str
    ladder: tuple[tuple[str, ...], ...]
    passes: tuple[Pass, ...]


def config(name: str, **values: object) -> str:
    """Options of `PassContext` as the argument of a pass."""
    return f"config={{{name!r}: {values!r}}}"


PARTITION = tuple(
    config("s_tir.LoopPartition", partition_const_loop=constant, no_unroll_loop_with_extent_one=keep)
    for constant in (True, False)
    for keep in (False, True)
)
UNROLL = (
    *(config("tirx.UnrollLoop", auto_max_step=step, explicit_unroll=True) for step in (4, 16, 64)),
    config("tirx.UnrollLoop", auto_max_step=64, auto_max_extent=4, explicit_unroll=False),
    config("tirx.UnrollLoop", auto_max_step=64, auto_max_depth=2, explicit_unroll=True),
)
SIMPLIFY = (
    "",
    config("tirx.StmtSimplify", transitively_prove_inequalities=True),
    config("tirx.StmtSimplify", convert_boolean_to_and_of_ors=True),
    config("tirx.StmtSimplify", apply_constraints_to_boolean_branches=True),
    config("tirx.StmtSimplify", convert_boolean_to_and_of_ors=True, apply_constraints_to_boolean_branches=True),
)
HOIST = (
    "",
    *(
        config("s_tir.HoistExpression", hoisted_conditionals=conditionals, hoisted_let_bindings=lets)
        for conditionals, lets in ((0, 31), (31, 0), (31, 31), (2, 1), (4, 2), (8, 8))
    ),
)
INTEGERS = ("extremes", "wide", "bytes", "quotients", "split", "reversed", "condition_outside", "parts_modulo")
MEMORY = ("shared", "carried", "compacted", "unrolled")
BODIES = ("parts", "lanes", "guarded", "knowns", "overwritten", "shadowed", "same", "never", "stepped")

TENSORIR = PassFamily(
    "TensorIR",
    (
        ("s_tir.LowerInitBlock",),
        ("s_tir.PlanAndUpdateBufferAllocationLocation", "s_tir.ConvertBlocksToOpaque"),
        ("s_tir.LowerMatchBuffer",),
        ("s_tir.AnnotateIrregularLoop", "s_tir.LowerOpaqueBlock"),
        ("tirx.FlattenBuffer",),
    ),
    (
        Pass("s_tir.CanonicalizeLoop", 0, 0, aims=("stepped", "parts", "reduced")),
        Pass("s_tir.LowerInitBlock", 0, 0, aims=("reduced",)),
        Pass("s_tir.PlanAndUpdateBufferAllocationLocation", 1, 1, aims=("carried", "compacted", "pipeline")),
        Pass("s_tir.ConvertBlocksToOpaque", 1, 1, aims=("carried", "compacted", "matched")),
        Pass("s_tir.UseAssumeToReduceBranches", 0, 0, aims=("assumed",)),
        Pass("s_tir.RenormalizeSplitPattern", 0, 5, aims=(*INTEGERS, "parts")),
        Pass("s_tir.StmtSimplify", 0, 4, SIMPLIFY, aims=INTEGERS),
        Pass("tirx.StmtSimplify", 0, 5, SIMPLIFY, aims=("knowns", "overwritten", "condition", *INTEGERS)),
        Pass("tirx.RemoveNoOp", 0, 5, aims=("overwritten", "knowns", "never", "condition", "undefined")),
        Pass("s_tir.CompactBufferAllocation", 2, 3, ("", "False"), aims=("compacted", "carried", "pipeline")),
        Pass("s_tir.LowerMatchBuffer", 2, 2, aims=("matched",)),
        Pass("s_tir.InjectSoftwarePipeline", 3, 3, aims=("pipeline",)),
        Pass("s_tir.AnnotateIrregularLoop", 3, 3, aims=("parts", "never")),
        Pass("s_tir.LowerOpaqueBlock", 3, 3, aims=("carried", "compacted", "pipeline", "reduced")),
        Pass("s_tir.LoopPartition", 4, 5, PARTITION, aims=("parts", "guarded", "never", "lanes_condition")),
        Pass("s_tir.HoistExpression", 0, 5, HOIST, aims=("condition", "guarded", "never", "parts", "shadowed")),
        Pass("s_tir.HoistIfThenElse", 4, 5, ("", "'basic'"), aims=("condition", "guarded", "never", "parts")),
        Pass("tirx.UnrollLoop", 4, 5, UNROLL, aims=("unrolled", "shared_in", "shadowed", "carried", "stepped")),
        Pass("tirx.CommonSubexprElim", 4, 5, aims=("guarded", "same", "shadowed", "wide", "condition_changes")),
        Pass("s_tir.RewriteUnsafeSelect", 4, 5, aims=("guarded", "parts", "float_to")),
        Pass("tirx.ConvertSSA", 0, 5, aims=("shadowed", "unrolled")),
        Pass("tirx.SkipAssert", 4, 5, aims=("asserted",)),
        Pass("tirx.RemoveAssume", 4, 5, aims=("assumed",)),
        Pass("s_tir.RemoveStoreUndef", 4, 5, aims=("undefined", "overwritten")),
        Pass("tirx.FlattenBuffer", 4, 4, aims=(*INTEGERS, "matched", "compacted")),
        Pass("tirx.BindTarget", 0, 5, aims=("floats",)),
        Pass("tirx.BF16ComputeLegalize", 5, 5, aims=("floats",)),
        Pass("tirx.NarrowDataType", 5, 5, ("32",), aims=("wide", "extremes", "quotients")),
        Pass("tirx.VectorizeLoop", 5, 5, ("True", "False"), aims=("lanes",)),
        Pass("s_tir.InjectVirtualThread", 5, 5, aims=("virtual",)),
        Pass(
            "s_tir.InjectDoubleBuffer",
            5,
            5,
            ("", *(config("s_tir.InjectDoubleBuffer", split_loop=by) for by in (0, 1, 2))),
            aims=("double",),
        ),
        Pass("tirx.StorageRewrite", 5, 5, after=("tirx.VectorizeLoop",), aims=MEMORY),
        Pass("tirx.PointerValueTypeRewrite", 5, 5, aims=("lanes", "shared")),
        Pass("tirx.LowerIntrin", 5, 5, after=("tirx.BindTarget",), aims=(*INTEGERS, "floats", "lanes_float")),
    ),
)

NHWC = "{'relax.nn.conv2d': ['NHWC', 'OHWI']}"
HWIO = "{'relax.nn.conv2d': ['NHWC', 'HWIO']}"
BLOCKED = "{'relax.nn.conv2d': ['NCHW2c', 'OIHW2o']}"
BEFORE, DATAFLOW, KERNELS, PLAIN, STORED = 0, 1, 1, 2, 3
ORDERS = tuple(
    f"{order!r}, {direction!r}"
    for order in ("depth-first", "breadth-first")
    for direction in ("from-inputs", "from-outputs")
)

RELAX = PassFamily(
    "Relax",
    (
        ("relax.LegalizeOps",),
        ("relax.ToNonDataflow", "relax.RemovePurityChecking"),
        ("relax.CallTIRRewrite",),
        ("relax.LowerAllocTensor",),
        ("relax.KillAfterLastUse",),
        ("relax.LowerRuntimeBuiltin", "relax.ComputePrimValue"),
        ("relax.VMShapeLower",),
    ),
    (
        Pass("relax.DataflowUseInplaceCalls", 0, 0, aims=("aliases", "views", "broadcast", "same", "in_place")),
        Pass("relax.CanonicalizeBindings", 0, 1, aims=("canonical", "aliases", "dead_cast", "common")),
        Pass("relax.EliminateCommonSubexpr", 0, 2, ("", "True"), aims=("common", "fused", "in_place")),
        Pass("relax.FoldConstant", 0, 1, aims=("folded", "canonical")),
        Pass("relax.DeadCodeElimination", 0, 2, aims=("dead", "common_impure", "in_place", "private")),
        Pass(
            "relax.ConvertToDataflow", 0, 1, ("", "1", "3"), aims=("canonical", "branches", "common_impure", "memory")
        ),
        Pass("relax.TopologicalSort", 0, 1, ORDERS, aims=("in_place", "aliases", "fused", "common")),
        Pass("relax.Normalize", 0, 2, aims=("fused", "common", "reshapes")),
        Pass("relax.NormalizeGlobalVar", 0, 1, aims=("private", "dead")),
        Pass("relax.LambdaLift", 0, 0, aims=("closures",)),
        Pass("relax.InlinePrivateFunctions", 0, 0, aims=("private", "dead", "aliases_of", "memory_of")),
        Pass("relax.ExpandTupleArguments", 0, 0, aims=("private", "fused_tuples")),
        Pass("relax.RemoveUnusedParameters", 0, 0, aims=("private", "dead")),
        Pass("relax.RemoveUnusedOutputs", 0, 0, aims=("private", "dead", "memory_of")),
        Pass("relax.ToMixedPrecision", 0, 0, ("", "'float32'", "'float16'"), aims=("mixed",), narrows="float16"),
        Pass("relax.ConvertLayout", 0, 0, (NHWC, HWIO, BLOCKED), aims=("layouts",)),
        Pass("relax.DecomposeOpsForInference", 0, 0, aims=("normalised",)),
        Pass("relax.AdjustMatmulOrder", 0, 0, aims=("matmul_chain", "matmul_moved")),
        Pass("relax.ExpandMatmulOfSum", 0, 0, aims=("matmul_sum",)),
        Pass("relax.CombineParallelMatmul", 0, 0, aims=("matmul_parallel",)),
        Pass("relax.ReorderPermuteDimsAfterConcat", 0, 0, aims=("matmul_moved", "fused_tuples")),
        Pass("relax.ReorderTakeAfterMatmul", 0, 0, aims=("matmul_moved",)),
        Pass("relax.FuseTransposeMatmul", 0, 0, aims=("matmul_chain", "matmul_moved")),
        Pass("relax.RemoveRedundantReshape", 0, 0, aims=("reshapes", "views")),
        Pass("relax.OptimizeLayoutTransform", 0, 0, aims=("transforms",)),
        Pass("relax.SpecializePrimFuncBasedOnCallSite", 1, 1, aims=("specialised",)),
        Pass("relax.LegalizeOps", 0, 0, aims=("views", "folded", "reshapes", "normalised", "transforms")),
        Pass("relax.AnnotateTIROpPattern", 1, 1, aims=("fused",)),
        Pass(
            "relax.FuseOps",
            1,
            1,
            ("", "0", "1", "2"),
            ("relax.AnnotateTIROpPattern",),
            ("fused", "memory", "views", "in_place", "common"),
        ),
        Pass(
            "relax.FuseTIR",
            1,
            1,
            ("",),
            ("relax.AnnotateTIROpPattern", "relax.FuseOps"),
            ("fused", "memory", "views", "in_place", "common", "reshapes"),
        ),
        Pass("relax.RewriteDataflowReshape", 1, 1, aims=("views", "reshapes", "memory")),
        Pass("relax.StaticPlanBlockMemory", 3, 3, aims=("memory", "branches", "fused_symbolic", "in_place", "views")),
        Pass("relax.KillAfterLastUse", 4, 4, aims=("memory", "branches", "aliases", "recursion")),
        Pass("relax.VMShapeLower", 6, 6, aims=("packed", "fused_symbolic", "canonical_casts", "memory_symbolic")),
    ),
)

FAMILIES = (TENSORIR, RELAX)
NAMES = tuple(dict.fromkeys(row.name for family in FAMILIES for row in family.passes))
"""The passes that are drawn, which `--exclude` takes."""
NARROWS = {row.name: row.narrows for family in FAMILIES for row in family.passes if row.narrows}
"""To which dtype a pass rounds numbers, as its documentation says: its stage is held to the bound of that dtype."""

LEFT_OUT: Mapping[str, str] = {
    "relax.FastMathTransform": "it is documented to be less exact",
    "relax.DecomposeOpsForTraining": "it is documented to take `training` for true",
    "relax.LiftTransformParams": "functions take other arguments afterwards",
    "relax.BundleModelParams": "functions take other arguments afterwards",
    "tirx.ForceNarrowIndexToInt32": "it is documented to refuse buffers of int64",
    "relax.Gradient": "it adds a function: nothing to compare with",
    "relax.BindParams": "it takes parameters away",
    "relax.BindSymbolicVars": "the calls of the module have other extents",
    "relax.LazyGetInput": "functions take other arguments afterwards",
    "relax.LazySetOutput": "functions take other arguments afterwards",
    "relax.LazyTransformParams": "functions take other arguments afterwards",
    "relax.RunCodegen": "it needs a library",
    "relax.FuseOpsByPattern": "its patterns are objects of TVM",
    "relax.MergeCompositeFunctions": "it needs FuseOpsByPattern",
    "relax.RewriteCUDAGraph": "it needs a device",
    "relax.RealizeVDevice": "it needs a device",
    "relax.UpdateVDevice": "it needs a device",
    "relax.AlterOpImpl": "its replacements are objects of TVM",
    "relax.SplitCallTIRByPattern": "its patterns are objects of TVM",
    "relax.MetaScheduleApplyDatabase": "it needs a data base of schedules",
    "tirx.MakePackedAPI": "the pipeline of `refmlc check` has it",
    "tirx.LowerTVMBuiltin": "the pipeline of `refmlc check` has it",
    "tirx.SplitHostDevice": "it needs a device",
    "s_tir.ThreadSync": "it needs a device",
    "s_tir.LowerThreadAllreduce": "it needs a device",
    "s_tir.LowerCrossThreadReduction": "it needs a device",
    "s_tir.MergeSharedMemoryAllocations": "it needs a device",
    "s_tir.DefaultGPUSchedule": "it needs a device",
    "s_tir.InstrumentBoundCheckers": "the functions that it calls are not TVM's",
    "s_tir.InstrumentProfileIntrinsics": "the functions that it calls are not TVM's",
}
"""Passes that are not drawn, and why."""
