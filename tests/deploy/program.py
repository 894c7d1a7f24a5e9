"""The program as a process of its own that looks for answers often: ncclient waits 0.1 s between two looks."""

import ncclient.transport.session

from ailb_gen.__main__ import main

# Most of the time that a push to the emulator takes would be these waits.
TICK_S = 0.005

if __name__ == "__main__":
    ncclient.transport.session.TICK = TICK_S
    main()
