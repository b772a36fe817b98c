"""The executable meaning of TVM IRModules."""
