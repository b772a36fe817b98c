"""The order of the passes: what takes much away at a time comes first, what only makes the rest plainer comes last.

A round goes through all groups; each group is repeated until nothing in it helps. After a round in which something
helped there is another one, so the end is a fixpoint of every pass.
"""

from refmlc.oracle.reduce.passes.arguments import drop_calls, simpler_arguments
from refmlc.oracle.reduce.passes.attributes import constant_dimensions, plain_functions
from refmlc.oracle.reduce.passes.blocks import drop_axes, plain_nests
from refmlc.oracle.reduce.passes.buffers import drop_buffers, lower_ranks, open_views, usual_layouts
from refmlc.oracle.reduce.passes.dtypes import simpler_dtypes
from refmlc.oracle.reduce.passes.expressions import constant_values, simpler_expressions
from refmlc.oracle.reduce.passes.extents import smaller_extents, smaller_places
from refmlc.oracle.reduce.passes.functions import drop_functions, plain_module
from refmlc.oracle.reduce.passes.graphs import drop_bindings, end_early, plain_graphs, simpler_bindings
from refmlc.oracle.reduce.passes.names import short_names
from refmlc.oracle.reduce.passes.parameters import drop_parameters
from refmlc.oracle.reduce.passes.statements import drop_statements, unwrap_statements
from refmlc.oracle.reduce.subject import Pass

GROUPS: tuple[tuple[Pass, ...], ...] = (
    (drop_functions, drop_calls, end_early, drop_bindings, drop_statements),
    (drop_parameters, drop_buffers, simpler_bindings, unwrap_statements),
    (smaller_extents, plain_nests, constant_values),
    (drop_axes, open_views, lower_ranks, constant_dimensions, simpler_dtypes),
    (simpler_expressions, smaller_places, simpler_arguments),
    (plain_module, plain_functions, plain_graphs, usual_layouts),
    (short_names,),
)
