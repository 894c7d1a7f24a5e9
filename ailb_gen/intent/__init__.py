"""The intent: `fabric.yaml` as checked, frozen models."""
