"""The tests of `python -m pytest -m quick`: for each room a few files, and of each file at most `MOST` tests.

A file stands here if it is fast and touches what its room is for: the meaning of each kind of node, the text in both
directions, both tiers to the bit, detectors, verdicts, the debugger, the command line. Of a file with more tests, every
second (third, …) is taken, so that the sample is the same each time and has all of its families.
"""

MOST = 24

FILES = {
    "the house": ("meta/test_meta_files.py", "meta/test_meta_help.py", "meta/test_meta_spec.py"),
    "system": ("unit/system/test_process_files.py",),
    "diag": ("unit/diag/test_diag_render.py", "golden/test_golden_diagnostics.py"),
    "lang": (
        "unit/lang/builder/test_builder_block_builder.py",
        "unit/lang/dtypes/test_dtypes_rounding.py",
        "unit/lang/ir/test_ir_equal.py",
        "unit/lang/library/test_library_definition.py",
        "unit/lang/library/test_library_reductions.py",
        "unit/lang/ops/test_ops_evaluate.py",
        "unit/lang/ops/test_ops_examples.py",
        "unit/lang/script/test_read_relax_functions.py",
        "unit/lang/script/test_read_tir_statements.py",
        "unit/lang/script/test_read_total.py",
        "unit/lang/script/test_show_nodes.py",
        "unit/lang/te/test_te_prim_func.py",
        "unit/lang/wellformed/test_wellformed_tensorir.py",
        "property/test_ops_laws.py",
        "golden/test_golden_show.py",
    ),
    "frontends": ("unit/frontends/test_frontends_programs.py", "unit/frontends/test_frontends_tvm.py"),
    "rewrite": ("unit/rewrite/schedule/test_schedule_class.py", "unit/rewrite/schedule/test_schedule_steps.py"),
    "run": (
        "unit/run/interp/test_interp_access.py",
        "unit/run/interp/test_interp_expressions.py",
        "unit/run/interp/test_interp_graph_calls.py",
        "unit/run/interp/test_interp_graph_matching.py",
        "unit/run/interp/test_interp_statements.py",
        "unit/run/interp/test_interp_threads.py",
        "unit/run/memory/test_runtime_files.py",
        "unit/run/memory/test_runtime_tensor.py",
    ),
    "native": (
        "unit/native/analysis/test_codegen_analysis_facts.py",
        "unit/native/analysis/test_codegen_analysis_legality.py",
        "unit/native/emit/test_emit_golden.py",
        "unit/native/tile/test_codegen_tile_bits.py",
        "unit/native/tile/test_codegen_tile_text.py",
    ),
    "prove": ("unit/prove/test_prove_pairs.py", "unit/prove/test_prove_terms.py"),
    "vm": ("unit/vm/test_vm_run.py", "unit/vm/test_vm_native_calls.py", "unit/test_api.py"),
    "strategies": ("unit/strategies/test_strategies_case.py",),
    "observe": (
        "unit/observe/bounds/test_bounds_rules.py",
        "unit/observe/sanitize/test_sanitize_tensorir.py",
        "unit/observe/sanitize/test_sanitize_threads.py",
        "unit/observe/why/test_provenance_slices.py",
        "golden/test_golden_sanitize.py",
    ),
    "debug": ("unit/debug/test_debug_session.py", "golden/test_golden_debug.py"),
    "oracle": (
        "unit/oracle/test_oracle_check.py",
        "unit/oracle/test_oracle_compare.py",
        "unit/oracle/implementations/test_adapters_loops.py",
        "unit/oracle/passes/test_passes_check.py",
        "unit/oracle/reduce/test_reduce_passes.py",
        "unit/oracle/suite/test_conform_runner.py",
        "unit/oracle/suite/test_conform_verdict.py",
        "unit/oracle/fuzz/test_fuzz_settings.py",
    ),
    "testing": ("unit/testing/test_testing_assertions.py",),
    "tvm": ("unit/tvm/test_tvm_names.py",),
    "tools": ("unit/tools/course/test_course_outputs.py",),
    "cli": ("e2e/test_cli_equiv.py", "golden/test_golden_command.py", "e2e/test_cli_why.py"),
}
