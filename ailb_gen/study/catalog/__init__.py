"""One module per study: its data."""
