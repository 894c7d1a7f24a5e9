"""The prose of the study of DLB, GLB and RLB."""

TEXT = """\
To be written.
"""
NOTES = """\
To be written.
"""
