"""Push a fabric into a real NetBox, then once more: minutes, requests, and processor time of this program.

The NetBox is that of NETBOX_URL and NETBOX_TOKEN; use one for tests, because the objects stay there:

    python -m benchmarks.inventory examples/frontier/fabric.yaml
"""

import os
import sys
import time
from pathlib import Path

from ailb_gen.api.inventory import source_of_truth
from ailb_gen.sot.netbox import NetBox
from ailb_gen.sot.push import SourceOfTruth, push


def measure(source: SourceOfTruth, netbox: NetBox) -> None:
    """Push, and print what it took."""
    began, used = time.perf_counter(), time.process_time()
    plan = source.plan()
    read = time.perf_counter() - began
    written = push(source, plan)
    took, own = time.perf_counter() - began, time.process_time() - used
    requests = ", ".join(f"{method} {count:,}" for method, count in sorted(netbox.session.counts.items()))
    count = sum(written.values())
    print(f"{count:,} objects in {took / 60:.1f} min ({read:.1f} s to read); {requests}; {own:.0f} s own")
    print("  " + ", ".join(f"{kind} {count:,}" for kind, count in written.items()))


def main() -> None:
    """Measure two pushes of the fabric that is named, by default examples/lab."""
    fabric = Path(sys.argv[1] if len(sys.argv) > 1 else "examples/lab/fabric.yaml")
    for _ in range(2):
        netbox = NetBox(os.environ["NETBOX_URL"], os.environ["NETBOX_TOKEN"])
        measure(source_of_truth(fabric, netbox), netbox)


if __name__ == "__main__":
    main()
