"""Chapters of the course, executed block by block."""
