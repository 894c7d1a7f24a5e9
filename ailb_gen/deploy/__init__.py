"""Pushing safely: inventory from intent, plan, waves, commit confirmed, verify, confirm, roll back, drift."""
