"""The requests that read frames and values, and those that change a value."""

import re
from base64 import b64encode
from dataclasses import dataclass
from math import prod

from refmlc.debug.dap import console
from refmlc.debug.dap.arguments import Arguments, RequestRefused
from refmlc.debug.dap.breakpoints import ClientBreakpoints
from refmlc.debug.dap.dap_state import DapState
from refmlc.debug.dap.references import ValuePath, VariableScope
from refmlc.debug.dap.threads import meant
from refmlc.debug.dap.value_rows import ValueRows
from refmlc.debug.session import Session
from refmlc.debug.session_data import Reason, StackFrame
from refmlc.diag.render import render_text
from refmlc.run.memory.cells import cell_size

Body = dict[str, object]
MOST_BYTES = 1 << 20
MEMORY = re.compile(r"(?:thread (\d{1,9}) )?(\d{1,9}):(.*)", re.ASCII | re.DOTALL)


@dataclass(frozen=True, slots=True)
class InspectionRequests:
    """The handlers. Fails: RM1xx to RM3xx as the session does, `RequestRefused`."""

    state: DapState
    breakpoints: ClientBreakpoints

    @property
    def rows(self) -> ValueRows:
        """The maker of rows."""
        return ValueRows(self.state)

    def stack(self, arguments: Arguments) -> Body:
        """`stackTrace`: a page of the frames."""
        session = self.state.stopped_session()
        thread = meant(self.state, arguments)
        self.state.show(self.state.chosen if thread is None else thread)
        frames = session.frames()
        if not frames:
            return {"stackFrames": [self._end(session)], "totalFrames": 1}
        start, levels = arguments.number("startFrame", 0), arguments.number("levels", 0)
        page = frames[start : start + levels if levels else None]
        return {"stackFrames": [self._frame(frame) for frame in page], "totalFrames": len(frames)}

    def _frame(self, frame: StackFrame) -> Body:
        body: Body = {"id": self.state.references.number(frame.index), "name": frame.title, "line": 0, "column": 0}
        if frame.span is not None:
            body |= {
                **self.state.client.place(frame.span),
                "source": self.state.sources.description(frame.span.source.name),
            }
        return body

    def _end(self, session: Session) -> Body:
        """The frame shown after the end of the program."""
        program = session.program
        span = program.module.functions[program.func].span
        body: Body = {
            "id": self.state.references.number(0), "name": f"{program.func} (ended)", "line": 0, "column": 0,
            "canRestart": False,
        }  # fmt: skip
        if span is not None:
            body |= {**self.state.client.place(span), "source": self.state.sources.description(span.source.name)}
        return body

    def scopes(self, arguments: Arguments) -> Body:
        """`scopes` of a frame."""
        self.state.stopped_session()
        return {"scopes": self.rows.scopes(self.state.frame(arguments.number("frameId")))}

    def variables(self, arguments: Arguments) -> Body:
        """`variables` of a scope or a value."""
        self.state.stopped_session()
        of = self.state.parts(arguments.number("variablesReference"))
        return {"variables": self.rows.rows(of, arguments)}

    def evaluate(self, arguments: Arguments) -> Body:
        """`evaluate`: an expression of TVMScript; in the console also the words of `console`."""
        session = self.state.stopped_session()
        expression, frame = arguments.text("expression"), self._optional(arguments)
        if arguments.text("context", "") == "repl":
            thread_number = console.selected(expression)
            if thread_number is not None:
                return self._select(session, thread_number)
            if self.state.chosen is not None:
                self.state.show(self.state.chosen)
                frame = 0
            reply = console.reply(session, expression, frame)
            if reply is not None:
                return {"result": reply, "variablesReference": 0}
        return self.rows.value(session.look(expression, frame), ValuePath(expression.strip(), frame))

    def _select(self, session: Session, number: int) -> Body:
        """Show another thread; the client reads the stack anew."""
        session.select_thread(number)
        self.state.chosen = number
        if self.state.client.invalidated:
            self.state.out.event("invalidated", {"areas": ["stacks", "variables"]})
        return {"result": f"thread {number} is shown", "variablesReference": 0}

    def _optional(self, arguments: Arguments) -> int:
        """The frame of a request; without one the innermost of the thread that is selected, or that runs."""
        if "frameId" in arguments:
            return self.state.frame(arguments.number("frameId"))
        if self.state.open_session is not None:
            self.state.show(self.state.chosen)
        return 0

    def set_variable(self, arguments: Arguments) -> Body:
        """`setVariable`: in a scope or a tensor."""
        of = self.state.parts(arguments.number("variablesReference"))
        name = arguments.text("name")
        if isinstance(of, VariableScope):
            frame = of.frame if of.kind != "arguments" else max(len(self.state.stopped_session().frames()) - 1, 0)
            return self._set(name, arguments.text("value"), frame)
        if of.mask or not of.path.spelled or not (name.startswith("[") and name.endswith("]")):
            raise RequestRefused(f"`{name}` cannot be set")
        return self._set(f"{of.path.spelled}{name}", arguments.text("value"), of.path.frame)

    def set_expression(self, arguments: Arguments) -> Body:
        """`setExpression`: the same, by an expression."""
        return self._set(arguments.text("expression"), arguments.text("value"), self._optional(arguments))

    def _set(self, target: str, value: str, frame: int) -> Body:
        session = self.state.movable_session()
        changed = session.set(target, value, frame)
        if changed.tensor is not None and self.state.client.memory:
            size = cell_size(changed.tensor.dtype) * changed.tensor.dtype.lanes * prod(changed.tensor.shape)
            memory = {"memoryReference": f"{frame}:{changed.name}", "offset": 0, "count": size}
            self.state.out.event("memory", memory)
        if self.state.client.invalidated:
            self.state.out.event("invalidated", {"areas": ["variables"]})
        row = self.rows.value(session.look(target, frame), ValuePath(target.strip(), frame))
        return {("value" if key == "result" else key): part for key, part in row.items() if key in _SET}

    def complete(self, arguments: Arguments) -> Body:
        """`completions`: the visible names."""
        session = self.state.stopped_session()
        line, column = arguments.text("text"), arguments.number("column") - self.state.client.first_column
        before = line[: max(column, 0)]
        start = len(before)
        while start and (before[start - 1].isalnum() or before[start - 1] == "_"):
            start -= 1
        prefix, frame = before[start:], self._optional(arguments)
        names = [variable.name for variable in session.visible(frame) if variable.name.startswith(prefix)]
        return {
            "targets": [
                {"label": name, "type": "variable", "start": start, "length": len(prefix)}
                for name in dict.fromkeys(names)
            ]
        }

    def exception(self, arguments: Arguments) -> Body:
        """`exceptionInfo` of the present stop."""
        stop = self.state.stop()
        meant(self.state, arguments)
        if stop.failure is not None:
            code = stop.failure.code
            details = {"message": stop.failure.message, "typeName": code.title, "stackTrace": render_text(stop.failure)}
            return {
                "exceptionId": code.id,
                "description": stop.failure.message,
                "breakMode": "always",
                "details": details,
            }
        if stop.reason is not Reason.NUMBER:
            raise RequestRefused("there is no exception here")
        kind = "nan" if "= nan " in stop.text else "inf"
        return {"exceptionId": kind, "description": stop.text, "breakMode": "always", "details": {"message": stop.text}}

    def memory(self, arguments: Arguments) -> Body:
        """`readMemory` of a tensor: its bytes from the first element on, uninitialised ones included."""
        session = self.state.stopped_session()
        match = MEMORY.fullmatch(arguments.text("memoryReference"))
        if match is None:
            raise RequestRefused("this is not a memory reference")
        thread, frame, name = match.groups()
        self.state.show(int(thread) if thread else None)
        tensor = ValuePath(name, int(frame)).tensor(session)
        offset, count = arguments.number("offset", 0, least=-MOST_BYTES), arguments.number("count")
        begin = tensor.byte_offset + offset
        stored = tensor.storage.bytes if tensor.storage.alive else b""
        data = bytes(stored[max(begin, 0) : max(begin, 0) + min(count, MOST_BYTES)]) if begin >= 0 else b""
        body: Body = {"address": hex(max(begin, 0)), "data": b64encode(data).decode("ascii")}
        return body | ({"unreadableBytes": count - len(data)} if len(data) < count else {})

    def data_info(self, arguments: Arguments) -> Body:
        """`dataBreakpointInfo` of a variable or an expression."""
        self.state.stopped_session()
        name = arguments.text("name")
        if "variablesReference" not in arguments:
            return self.breakpoints.info(name, self._optional(arguments))
        of = self.state.parts(arguments.number("variablesReference"))
        if isinstance(of, VariableScope):
            return self.breakpoints.info(name, of.frame)
        if not of.path.spelled or of.mask or not name.startswith("["):
            return {"dataId": None, "description": f"`{name}` is never written"}
        return self.breakpoints.info(f"{of.path.spelled}{name}", of.path.frame)


_SET = ("result", "type", "variablesReference", "namedVariables", "indexedVariables")
