"""Runs of calls of a dataflow block as one C function, with the memory between the calls planned ahead."""
