"""Pushing to Linux servers over SSH: staged files, a timer that restores, verification."""
