"""`Schedule`: a module changed step by step, under TVM's names, each step validated by running where that is asked for.

>>> schedule = Schedule(module, validate=True)
>>> block = schedule.get_block("product")
>>> i, j, k = schedule.get_loops(block)
>>> outer, inner = schedule.split(i, factors=[None, 4])
>>> schedule.parallel(outer)
>>> schedule.mod.show(), print(schedule.trace)

| file         | holds                                                                        |
|--------------|------------------------------------------------------------------------------|
| `session`    | `Schedule`: the module as it is, blocks and loops by their handles            |
| `handles`    | `BlockRV`, `LoopRV`: what a handle holds, through all steps                  |
| `others`     | the methods of TVM's that are refused by name                                 |
| `trace`      | the steps that were taken, as text                                           |
| `validation` | before and after a step on generated calls, with the sanitizer: the same bits |

The steps and their rules are those of `refmlc.schedule`: legality is decided there. Validation knows nothing of the
rules. It sees calls, and refuses a step with the counterexample (`InvalidStep`, RM705).
"""

from refmlc.schedule import TensorIntrin
from refmlc.scheduling.handles import BlockRV, LoopRV
from refmlc.scheduling.session import Schedule
from refmlc.scheduling.trace import Step, Trace
from refmlc.scheduling.validation import InvalidStep, Validation

__all__ = ["BlockRV", "InvalidStep", "LoopRV", "Schedule", "Step", "TensorIntrin", "Trace", "Validation"]
