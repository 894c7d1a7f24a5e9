"""The table of studies."""

from collections.abc import Callable
from dataclasses import dataclass

from ailb_gen.study.catalog.balancers import balancers
from ailb_gen.study.catalog.hopper import hopper
from ailb_gen.study.catalog.queue_pairs import queue_pairs
from ailb_gen.study.catalog.recovery import recovery
from ailb_gen.study.catalog.scale_unit import scale_unit
from ailb_gen.study.catalog.what_if import what_if
from ailb_gen.study.model import Options, Study


@dataclass(frozen=True, slots=True)
class Entry:
    """A study: what it repeats, whether it reads a file of the user, and the function that makes its data."""

    text: str
    make: Callable[[Options], Study]
    needs_file: bool = False


STUDIES = {
    "scale-unit": Entry("ECMP, flowlets and adaptive routing in a scale unit (Zeltser, 2026)", scale_unit),
    "recovery": Entry("recovery of lost packets by three transports (Li, 2024)", recovery),
    "balancers": Entry("DLB, GLB and RLB on Juniper's reference fabric (Juniper, 2025)", balancers),
    "queue-pairs": Entry("queue pairs per connection, with 4 and 8 uplinks (Juniper)", queue_pairs),
    "hopper": Entry("load balancing by hosts (Nosrati and Ghaderi, 2025)", hopper),
    "what-if": Entry("what load balancers and failures cost your own training job", what_if, needs_file=True),
}
