"""Entry of `python -m ailb_gen.ailb_host`; the packed program has one of its own."""

import sys

from .main import main

if __name__ == "__main__":
    sys.exit(main())
