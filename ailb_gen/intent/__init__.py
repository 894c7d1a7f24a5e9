"""What the fabric is: `fabric.yaml` as checked, frozen models."""
