"""Packages that chapters import for their data and pictures; this folder is searched last: the real ones win."""
