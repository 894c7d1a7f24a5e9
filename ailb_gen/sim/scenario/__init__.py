"""Scenario files: what is simulated, checked at the border and turned into points of a sweep."""
