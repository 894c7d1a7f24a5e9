"""The third judge: what a lab shows against the intent, and against this program's own model."""
