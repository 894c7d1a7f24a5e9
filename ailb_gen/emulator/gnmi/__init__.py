"""gNMI of emulated devices: paths, the state that they name, subscriptions, and the gRPC server."""
