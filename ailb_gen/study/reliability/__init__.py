"""Failures over months: what is left of a job's time, and what the fabric costs."""
