"""The commands that move the program, forwards and backwards."""

import re
from collections.abc import Callable, Mapping

from refmlc.debug.session_data import FrameKind, Moment
from refmlc.debug.terminal.prompt_state import PromptState, count, number
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE

MOMENT = re.compile(r"(\d{1,18})\.(\d{1,18})", re.ASCII)


def step(state: PromptState, rest: str) -> str:
    """Step to the next statement."""
    return state.arrived(state.session.step_in(count(rest)))


def step_over(state: PromptState, rest: str) -> str:
    """Step to the next statement that is not inside this one."""
    return state.arrived(state.session.step_over(count(rest)))


def leave(state: PromptState, _rest: str) -> str:
    """Run until the function is left."""
    functions = (FrameKind.PRIM_FUNC, FrameKind.GRAPH)
    frame = next((stack_frame.index for stack_frame in state.session.frames() if stack_frame.kind in functions), 0)
    return state.arrived(state.session.step_out(frame))


def out(state: PromptState, _rest: str) -> str:
    """Run until the innermost loop or block is left."""
    return state.arrived(state.session.step_out(0))


def iteration(state: PromptState, rest: str) -> str:
    """Run to the next iteration."""
    return state.arrived(state.session.next_iteration(rest))


def block(state: PromptState, _rest: str) -> str:
    """Run to the next block."""
    return state.arrived(state.session.next_block())


def until(state: PromptState, rest: str) -> str:
    """Run to a later line."""
    return state.arrived(state.session.until(number(rest, 0, "a line", least=1)))


def go_on(state: PromptState, _rest: str) -> str:
    """Run to the next breakpoint."""
    return state.arrived(state.session.resume())


def goto(state: PromptState, rest: str) -> str:
    """Go to a moment."""
    match = MOMENT.fullmatch(rest)
    if match is None:
        problem = f"`{rest}` is not a moment" if rest else "`goto` needs a moment"
        raise fail(BAD_USAGE, problem, None, "moments are written EVENT.STEP, as stops show them")
    return state.arrived(state.session.goto(Moment(int(match[1]), int(match[2]))))


def restart(state: PromptState, _rest: str) -> str:
    """Go to the entry."""
    return state.arrived(state.session.restart())


def step_back(state: PromptState, rest: str) -> str:
    """Step back to the previous statement."""
    return state.arrived(state.session.step_back(count(rest)))


def step_back_over(state: PromptState, rest: str) -> str:
    """Step back to the previous statement that is not deeper."""
    return state.arrived(state.session.step_back_over(count(rest)))


def go_back(state: PromptState, _rest: str) -> str:
    """Run backwards to the last hit of a breakpoint."""
    return state.arrived(state.session.reverse_resume())


def to_write(state: PromptState, rest: str) -> str:
    """Run backwards to the last write of an element."""
    if not rest:
        raise fail(BAD_USAGE, "`rwrite` needs an element, a region, or the name of a tensor")
    return state.arrived(state.session.reverse_to_write(rest, state.frame))


def to_entry(state: PromptState, _rest: str) -> str:
    """Go back to the entry of the frame."""
    return state.arrived(state.session.restart_frame(state.frame))


HANDLERS: Mapping[str, Callable[[PromptState, str], str]] = {
    "step": step,
    "next": step_over,
    "return": leave,
    "out": out,
    "iteration": iteration,
    "block": block,
    "until": until,
    "continue": go_on,
    "goto": goto,
    "restart": restart,
    "rstep": step_back,
    "rnext": step_back_over,
    "rcontinue": go_back,
    "rwrite": to_write,
    "rframe": to_entry,
}
