"""`Schedule`: a module changed step by step, under TVM's names, each step validated by running where that is asked for.

>>> schedule = Schedule(module, validate=True)
>>> block = schedule.get_block("product")
>>> i, j, k = schedule.get_loops(block)
>>> outer, inner = schedule.split(i, factors=[None, 4])
>>> schedule.parallel(outer)
>>> schedule.mod.show(), print(schedule.trace)

| file      | holds                                                              |
|-----------|--------------------------------------------------------------------|
| `session` | `Schedule`: the module as it is, blocks and loops by their handles |
| `handles` | `BlockRV`, `LoopRV`: what a handle holds, through all steps        |
| `others`  | the methods of TVM's that are refused by name                      |
| `trace`   | the steps that were taken, as text                                 |

The steps and their rules are those of `refmlc.rewrite.schedule`: legality is decided there. A validator knows nothing
of the rules: `refmlc.testing.Validation` executes calls before and after a step, and refuses the step with the
counterexample (`InvalidStep`, RM705).
"""

from refmlc.rewrite.schedule import TensorIntrin
from refmlc.rewrite.schedule.session.handles import BlockRV, LoopRV
from refmlc.rewrite.schedule.session.session import Schedule, Validator
from refmlc.rewrite.schedule.session.trace import Step, Trace

__all__ = ["BlockRV", "LoopRV", "Schedule", "Step", "TensorIntrin", "Trace", "Validator"]
