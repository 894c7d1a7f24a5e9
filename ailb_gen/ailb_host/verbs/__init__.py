"""The verbs of `ailb-host`: their arguments, and how they print the answer."""
