"""`tvm.relax.frontend.torch.exported_program_translator`: the name of TVM's importer, for annotations."""

from refmlc.tvm.missing_names import refusal
from refmlc.tvm.nodes import NodeClass
from refmlc.tvm.relax.frontend.torch import from_exported_program

ExportedProgramImporter = NodeClass("relax.frontend.torch.ExportedProgramImporter", lambda _: False)

__all__ = ["ExportedProgramImporter", "from_exported_program"]

__getattr__ = refusal(__name__, __all__)
