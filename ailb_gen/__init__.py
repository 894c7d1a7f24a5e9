"""Intent in, a working RDMA-load-balanced GPU fabric out."""

__version__ = "0.1.0"
