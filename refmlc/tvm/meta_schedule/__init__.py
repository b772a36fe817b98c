"""`tvm.meta_schedule`: a search for fast schedules by TVM's names (`search` searches).

| name                                | is                                                               |
|-------------------------------------|------------------------------------------------------------------|
| `search`                            | the search itself, and the default space                         |
| `tune_tir`                          | a search; returns the database of what it measured               |
| `relax_integration`                 | the functions of a module as tasks, and a search over them       |
| `tir_integration.compile_tir`       | the best schedule of a module in a database                      |
| `space_generator.ScheduleFn(f)`     | the space that a function draws from                             |
| `space_generator.PostOrderApply()`  | the default space                                                |
| `Database`, `database`              | what was measured, in memory                                     |

A target whose programs bind loops to threads gets the default space of the CPU too, as that is what measures.

Decision: the work directory is written where it is named, as one file of JSON lines (`database_tuning_record.json`);
databases of TVM are not read. What builds, runs, models cost or mutates there is refused by name: one process measures.
"""

from refmlc.tvm.meta_schedule import database, relax_integration, space_generator, tir_integration
from refmlc.tvm.meta_schedule.database import Database
from refmlc.tvm.meta_schedule.tir_integration import compile_tir, tune_tir
from refmlc.tvm.missing_names import refusal

__all__ = [
    "Database",
    "compile_tir",
    "database",
    "relax_integration",
    "space_generator",
    "tir_integration",
    "tune_tir",
]

__getattr__ = refusal(__name__, __all__)
