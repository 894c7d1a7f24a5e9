"""Options of a collective, common to all algorithms."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ailb_gen.errors import UsageError

Ranks = npt.NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a collective; each algorithm says which ones it has.

    `slices`: messages per chunk, passed on as they arrive (pipelining; NCCL cuts its buffers into slices).
    `at_once`: all messages are sent at the start, without waiting for what a rank would have to receive first; None:
    as the algorithm does it. `per_server`: each so many ranks after another are GPUs of one server. `rounds`: only
    the first so many steps of a ring. `stream`: a ring hands on the bytes of all steps in one, as a ring with many
    slices does: far fewer messages, and no wait between steps. `shift`: permutation to the rank so many further on
    instead of a random one. `seed`: of the random permutation. `pxn`: data for another rail of another server goes to
    the NIC of that rail over NVLink first (NCCL's PXN); otherwise it crosses the network.
    """

    slices: int = 1
    at_once: bool | None = None
    per_server: int = 1
    rounds: int | None = None
    shift: int | None = None
    seed: int = 0
    stream: bool = False
    pxn: bool = True

    def __post_init__(self) -> None:
        for name, value in (("slices", self.slices), ("per_server", self.per_server), ("rounds", self.rounds)):
            if value is not None and value < 1:
                raise UsageError(f"{name} of a collective must be at least 1, not {value}")
