"""Batfish as a second opinion: snapshots, an IPv4 shadow, questions."""
