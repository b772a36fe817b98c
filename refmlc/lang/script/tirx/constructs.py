"""TIRx in the reader's table: its constructs, from the files that define them."""

from refmlc.lang.script.reader.table import Table
from refmlc.lang.script.tirx import devices, layouts, scopes, tiles

TIRX = Table(
    calls={**layouts.CALLS, **scopes.CALLS, **tiles.CALLS, **devices.CALLS},
    names=devices.NAMES,
    subscripts={**layouts.SUBSCRIPTS, **devices.SUBSCRIPTS},
    prefixes={**tiles.PREFIXES, **devices.PREFIXES},
    families=layouts.FAMILIES,
)
