"""Acceptance of a cluster: verify it, send packets and jobs through it, and compare all counters with them."""
