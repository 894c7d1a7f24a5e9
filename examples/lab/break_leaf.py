"""Break a leaf like an engineer in a hurry: junos-eznc by hand, no plan, no review.

Deletes the color of the first advertised prefix and disables an uplink, and commits.
Usage: AILB_PASSWORD=... python break_leaf.py INVENTORY LEAF
"""

import os
import sys
from pathlib import Path

import yaml
from jnpr.junos import Device
from jnpr.junos.utils.config import Config

COMMANDS = """
delete protocols bgp group fabric-green fabric-color
set interfaces et-0/0/1 disable
"""


def main() -> None:
    """Connect to the leaf that the inventory names, load, commit."""
    folder, leaf = Path(sys.argv[1]), sys.argv[2]
    host = yaml.safe_load((folder / "hosts.yaml").read_text(encoding="utf-8"))[leaf]
    login = {"user": "admin", "passwd": os.environ["AILB_PASSWORD"]}
    # No check of the host key: ailb-gen checks it, and so should you.
    with (
        Device(host=host["hostname"], port=host["port"], gather_facts=False, **login) as device,
        Config(device, mode="exclusive") as config,
    ):
        config.load(COMMANDS, format="set")
        config.commit(comment="quick fix")
    print(f"{leaf}: {' and '.join(COMMANDS.strip().splitlines())}: committed by hand")


if __name__ == "__main__":
    main()
