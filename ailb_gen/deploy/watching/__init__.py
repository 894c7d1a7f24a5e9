"""Drift and verification again and again: reading devices at their own pace, telling what changed, metrics, hooks."""
