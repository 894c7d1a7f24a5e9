"""Stands for `all_reduce_perf` in a lab, where no GPU is: sends packets between servers, then prints what that prints.

Arguments: the lab, and by server the flows that it sends, as JSON. Output of nccl-tests, with a bandwidth that is none.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys

OUTPUT = """\
# nThread 1 nGpus 1 minBytes 8388608 maxBytes 8388608 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     8388608       2097152     float     sum      -1    371.9   22.56   42.29      0    371.2   22.60   42.37      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 42.33
#
"""


def main() -> None:
    lab, flows = sys.argv[1], json.loads(sys.argv[2])
    for server, rows in flows.items():
        data = shlex.quote(json.dumps({"flows": rows}))
        send = f"echo {data} | /usr/local/sbin/ailb-host traffic send --count 200 --rate 400 --size 8000"
        script = f"{send} && /usr/local/sbin/ailb-host traffic stop"
        words = [sys.executable, "-m", "ailb_gen", "lab", "exec", "--lab", lab, server, "--", "sh", "-c", script]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    sys.stdout.write(OUTPUT)


if __name__ == "__main__":
    main()
