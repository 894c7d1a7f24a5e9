"""The catalogue of checks: what the files do against what the intent specifies."""
