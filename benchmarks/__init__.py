"""Benchmarks next to floors and peers; they print figures and assert nothing about time."""

import os

# As on a user's machine, the program is compiled by its first run only; images of containers often say otherwise.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
