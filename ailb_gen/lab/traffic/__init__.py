"""RoCE-like traffic between the servers of a lab: flows, what is lost of them, and what every uplink carries."""
