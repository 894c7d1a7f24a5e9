"""Benchmarks next to floors and peers; they print figures and assert nothing about time."""
