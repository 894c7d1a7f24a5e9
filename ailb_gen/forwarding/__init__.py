"""Packets over FIBs: paths, link loads, failures."""
