"""TIRx in the reader's table: its constructs, from the files that define them."""

from refmlc.lang.script.reader.table import Table
from refmlc.lang.script.tirx import derived_layouts, devices, layouts, refused, scopes, tiles

TIRX = Table(
    calls={
        **layouts.CALLS,
        **derived_layouts.CALLS,
        **scopes.CALLS,
        **tiles.CALLS,
        **devices.CALLS,
        **refused.CALLS,
    },
    names={**devices.NAMES, **derived_layouts.NAMES},
    subscripts={**layouts.SUBSCRIPTS, **devices.SUBSCRIPTS},
    prefixes={**tiles.PREFIXES, **devices.PREFIXES},
    lazy=tiles.LAZY,
    families=(*layouts.FAMILIES, *derived_layouts.FAMILIES),
    constants=layouts.CONSTANTS,
)
