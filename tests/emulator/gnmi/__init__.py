"""gNMI of emulated devices."""
