"""Measure labs: how long they take to come up and to be checked, and what a failed link costs running traffic.

The floor of a start makes the namespaces, cables and addresses by `ip -batch`, and starts the same number of BIRDs on
their finished configurations, without anything around. Times are wall-clock, limits are those of two cores.
Run: python -m benchmarks.lab [--sizes 64,128] [--failures]
"""
