"""The fabric as the files describe it: devices, links, sessions, colors, prefixes."""
