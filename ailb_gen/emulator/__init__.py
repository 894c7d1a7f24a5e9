"""A Junos-like device for labs, demos and tests: NETCONF over SSH on loopback ports."""
