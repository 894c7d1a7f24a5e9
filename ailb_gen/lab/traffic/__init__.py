"""RoCE-like traffic between the servers of a lab: flows, their losses, and the load of every uplink."""
