"""The commands that move the program, forwards and backwards: the motion of the session for each.

`next`, `out` and `return` stay with the thread of a kernel in which the program stands; `step` follows whichever runs.
"""

import re
from collections.abc import Callable, Mapping

from refmlc.debug.session_data import FrameKind, Moment, Stop
from refmlc.debug.terminal.prompt_state import PromptState, count, number
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE

MOMENT = re.compile(r"(\d{1,18})\.(\d{1,18})", re.ASCII)


def _own(state: PromptState) -> list[int] | None:
    """The thread in which the program stands, if threads take turns."""
    state.session.select_thread()
    number = state.session.thread
    return None if number is None or not state.session.has_thread(number) else [number]


def _leave_function(state: PromptState, _argument: str) -> Stop:
    """Run until the innermost function is left."""
    functions = (FrameKind.PRIM_FUNC, FrameKind.GRAPH)
    own = _own(state)
    index = next((frame.index for frame in state.session.frames() if frame.kind in functions), 0)
    return state.session.step_out(index, threads=own)


def _go_to(state: PromptState, argument: str) -> Stop:
    """Go to a moment. Fails: RM112."""
    match = MOMENT.fullmatch(argument)
    if match is None:
        problem = f"`{argument}` is not a moment" if argument else "`goto` needs a moment"
        raise fail(BAD_USAGE, problem, None, "moments are written EVENT.STEP, as stops show them")
    return state.session.goto(Moment(int(match[1]), int(match[2])))


def _back_to_write(state: PromptState, argument: str) -> Stop:
    """Run backwards to the last write of an element. Fails: RM112."""
    if not argument:
        raise fail(BAD_USAGE, "`rwrite` needs an element, a region, or the name of a tensor")
    return state.session.reverse_to_write(argument, state.frame)


MOTIONS: Mapping[str, Callable[[PromptState, str], Stop]] = {
    "step": lambda state, argument: state.session.step_in(count(argument)),
    "next": lambda state, argument: state.session.step_over(count(argument), threads=_own(state)),
    "return": _leave_function,
    "out": lambda state, _argument: state.session.step_out(0, threads=_own(state)),
    "iteration": lambda state, argument: state.session.next_iteration(argument),
    "block": lambda state, _argument: state.session.next_block(),
    "until": lambda state, argument: state.session.until(number(argument, 0, "a line", least=1)),
    "continue": lambda state, _argument: state.session.resume(),
    "goto": _go_to,
    "restart": lambda state, _argument: state.session.restart(),
    "rstep": lambda state, argument: state.session.step_back(count(argument)),
    "rnext": lambda state, argument: state.session.step_back_over(count(argument)),
    "rcontinue": lambda state, _argument: state.session.reverse_resume(),
    "rwrite": _back_to_write,
    "rframe": lambda state, _argument: state.session.restart_frame(state.frame),
}
