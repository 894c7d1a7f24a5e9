"""Text from the design: templates, the artifact tree, its manifest, and atomic writing."""
