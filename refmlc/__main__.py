"""`python -m refmlc` is the command `refmlc`."""

from refmlc.cli import main

main()
