"""Measurements against floors and peers; they print figures and assert nothing about time."""
