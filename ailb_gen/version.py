"""The version of the program."""

__version__ = "0.1.0"
# As written files name the program.
NAME_AND_VERSION = f"ailb-gen {__version__}"
