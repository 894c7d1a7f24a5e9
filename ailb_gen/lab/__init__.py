"""The fabric of an artifact directory in network namespaces: kernels that forward, BIRD that speaks BGP."""
