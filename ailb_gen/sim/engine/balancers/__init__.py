"""The load balancers, a module each, and which of them chooses."""
