"""Junos text to tree and back, the YANG schema and the offline commit check."""
