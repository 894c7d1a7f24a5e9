"""Proofs that are kept: what a run of the checks found, by all that it follows from."""
