"""What a device answers to a request of gNMI that it refuses."""

from __future__ import annotations

import grpc


class GnmiRefusedError(Exception):
    """A request is refused with a status of gRPC and a text that says why."""

    def __init__(self, status: grpc.StatusCode, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text
