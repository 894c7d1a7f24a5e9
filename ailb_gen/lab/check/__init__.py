"""Compare a running lab with the intent, and with this program's own model."""
