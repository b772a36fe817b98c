"""ResNet-18 at 224² in the debugger: `python tests/e2e/debug_resnet.py` goes to its 40th binding, in and out, and back.

Prints the seconds of each motion, compilation included; ends with 1 where a motion does not arrive, or the 40th binding
takes more than `MOST` seconds.
"""

import sys
import time
import warnings
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table
from torch_architectures import case

from refmlc.debug import Program, Session, Stop
from refmlc.frontends.torch_export import from_exported_program
from refmlc.lang.ir import relax

MOST = 60.0
NUMBER = 40


def opened() -> tuple[Program, str]:
    """The program, and the variable of its 40th binding."""
    made = case("resnet-18", large=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, on its own code
        module = from_exported_program(torch.export.export(made.model, made.inputs))
    program = Program(module, "main", [one.numpy() for one in made.inputs])
    function = program.module.functions["main"]
    bindings = [binding for block in function.body.blocks for binding in block.bindings]
    binding = bindings[NUMBER - 1]
    assert isinstance(binding, relax.VarBinding)
    return program, binding.var.name


def main() -> int:
    """Measure and print."""
    program, name = opened()
    table = Table("motion", "seconds", "arrives at", title=f"ResNet-18 at 224², {NUMBER}th binding: {name}")
    with Session(program) as session:
        session.start()
        session.break_name(f"main.{name}")
        seconds = []
        motions: dict[str, Callable[[], Stop]] = {
            f"continue to `{name}`": session.resume,
            "step into its call": session.step_in,
            "to its first loop": session.step_in,
            "step over the loop": session.step_over,
            "back over the loop": session.step_back_over,
            "over it again, and the next": lambda: session.step_over(2),
            "back over the next": session.step_back_over,
            "ten steps": lambda: session.step_in(10),
            "step back": session.step_back,
            "leave the function": lambda: session.step_out(len(session.frames()) - 2),
            "back over it": session.step_back_over,
        }
        places = []
        for motion, move in motions.items():
            begin = time.perf_counter()
            stop = move()
            seconds.append(time.perf_counter() - begin)
            places.append(stop.function)
            table.add_row(motion, f"{seconds[-1]:.3f}", f"{stop.function}, moment {stop.moment}")
        here = session.frames()[0].detail
    Console().print(table)
    inside = places[1] not in ("main", "") and {*places[1:5], *places[7:9]} == {places[1]}
    outside = {places[number] for number in (0, 5, 6, 9, 10)} == {"main"} and here == f"binding {name}"
    return int(not (inside and outside and seconds[0] < MOST))


if __name__ == "__main__":
    sys.exit(main())
