"""The design, computed from the intent: addresses, ports, AS numbers, BGP groups, routes and host tables."""
