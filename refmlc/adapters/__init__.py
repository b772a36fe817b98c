"""Implementations of IRModules, one file each, behind one protocol (`implementation`)."""
