"""Run the command line as `python -m ailb_gen`."""

from ailb_gen.cli import main

main()
