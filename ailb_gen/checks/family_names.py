"""The families of checks, apart from what they compute: importing this takes no time."""

# What an id begins with stands for: the name that `--checks` takes, and a title.
FAMILIES = {
    "AILB0": ("files", "Files, topology and waivers"),
    "AILB1": ("addresses", "Addresses and VLANs"),
    "AILB2": ("sessions", "BGP sessions"),
    "AILB3": ("colors", "Colors and BGP-DPF"),
    "AILB4": ("paths", "Paths and balance"),
    "AILB5": ("failures", "Failures"),
    "AILB6": ("hosts", "Hosts"),
    "AILB7": ("roce", "RoCE"),
    "AILB8": ("batfish", "Batfish, with `--batfish`"),
    "AILB9": ("junos", "Junos commit check"),
    "AILBD": ("devices", "Devices: what `ailb-gen drift` and `ailb-gen verify` look at"),
    "AILBL": ("lab", "Lab: what `ailb-gen lab check` looks at"),
}
