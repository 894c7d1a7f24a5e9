"""The servers of a lab: booted from their rendered files, reached over SSH."""
