"""`ir_modules()`: the strategy of Hypothesis over modules of Relax that run, with arguments."""

from hypothesis import strategies as st

from refmlc.strategies.case import Case
from refmlc.strategies.draws import Draw, Drawn
from refmlc.strategies.modules import module_of


@st.composite
def ir_modules(draw: Draw, aim: str = "") -> Case:
    """A module whose `main` is defined for its arguments: graphs of Relax over kernels of TensorIR.

    With an `aim`, one of `MODULE_AIMS`, it is made to show that code.

    Shrinks toward few bindings, small shapes, plain kernels.
    """
    return module_of(Drawn(draw), aim)
