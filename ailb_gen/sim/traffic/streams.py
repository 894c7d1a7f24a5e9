"""Random numbers: an independent stream per seed and purpose, the same on every machine."""

from zlib import crc32

import numpy as np

from ailb_gen.errors import UsageError


def stream(seed: int, purpose: str) -> np.random.Generator:
    """Return the generator of a purpose; raises UsageError for a negative seed."""
    if seed < 0:
        raise UsageError(f"the seed {seed} is negative")
    return np.random.Generator(np.random.PCG64([seed, crc32(purpose.encode())]))
