"""What ACME adds to ailb-gen."""
