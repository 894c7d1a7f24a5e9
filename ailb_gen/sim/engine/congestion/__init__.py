"""Congestion control of hosts, a module each, and which of them is asked."""
