"""A trace: everything one run does, in order, as a page, as JSON, or in Perfetto.

| file         | does                                                                                    |
|--------------|-----------------------------------------------------------------------------------------|
| `events`     | kinds of events, the tables, `Trace`                                                    |
| `memories`   | one address space for the cells of all tensors                                          |
| `recorder`   | the client of the interpreter's hooks: the common part of both runs                      |
| `full_recorder` | the first run: writes every event, and only counts events beyond the limit            |
| `sampled_recorder` | the second run, needed beyond the limit: writes some units                         |
| `units`      | statements that are kept or omitted as a whole, and their execution without hooks        |
| `threads`    | the turns of threads that take turns, their waits, their copies in flight               |
| `wait_ends`  | who ends each wait                                                                       |
| `record`     | runs a program, twice where there are too many events to keep them all                   |
| `trace_json` | `Trace` as one JSON object, `schema.json`; and back                                      |
| `replay`     | the tensors at a step, from the events alone                                            |
| `perfetto`   | the events as the Perfetto viewer opens them                                            |
| `perfetto_threads` | tracks of threads for it                                                           |
| `page`       | one HTML page, `templates/`                                                             |

An event has a step (its number in the run, from 0), a site (what, and where in the text), `at` and `value`:

| kind     | happens                                   | `at`                       | `value`                       |
|----------|-------------------------------------------|----------------------------|-------------------------------|
| `call`   | a function begins                          | row of `calls`             |                               |
| `return` | the function ends                          | row of `calls`             |                               |
| `bind`   | a binding of Relax begins                  | row of `calls` of its caller |                              |
| `bound`  | the binding has its value                  | row of `bindings`          |                               |
| `iter`   | an iteration of a loop begins              |                            | the loop variable             |
| `block`  | an instance of a block begins              | first of its axes in `ints` |                               |
| `alloc`  | a buffer gets storage, uninitialised       | row of `tensors`           |                               |
| `load`   | a cell is read                             | address                    | the value                     |
| `store`  | a cell is written                          | address                    | the value                     |
| `forget` | a cell gets `T.undef()`                    | address                    |                               |
| `fail`   | the run ends here: undefined, trap, budget |                            |                               |

A loop and a block have no event at their end: an event ends every open one whose site is as deep as its own (`depth`,
within a call) or deeper. Cells have addresses: a row of `memories` is a range of addresses, a row of `tensors` places
the elements in it. `contents` are whole memories at a moment: arguments, constants, outputs of functions from outside.
A vector has a cell, and an event, for each lane. Integers beyond 2**53 are rounded in `value`.

Decision: beyond `max_events` events, statements are kept at equal distances, each with its loads, its store and the
loops and blocks around; calls, bindings, the first NaN and infinity, the last statement and the failure are always
kept, and memories changed by omitted stores are written whole at the end of the call. That takes a second run: beyond
the limit the first one only counts, and in both an omitted statement is executed unwatched. Where even these events are
too many, the trace ends at `cut`, and says so.

Decision: with `only`, calls of other functions are executed in C, or by an interpreter without hooks. Their tensors
have no rows then, and a watched call begins with the whole contents of its tensors.
"""

from refmlc.debug.trace.events import MAX_EVENTS, EventKind, EventSite, Trace
from refmlc.debug.trace.perfetto import as_perfetto
from refmlc.debug.trace.record import record
from refmlc.debug.trace.trace_json import as_data, read_data

__all__ = ["MAX_EVENTS", "EventKind", "EventSite", "Trace", "as_data", "as_perfetto", "read_data", "record"]
