"""The packet-level simulator: how fast jobs run on a fabric, by load balancer, transport and failure."""
