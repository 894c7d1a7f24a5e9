"""Exports: the design in the formats of the programs and people beside a fabric."""
