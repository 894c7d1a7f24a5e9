"""GPU servers: reading netplan and iproute2 artifacts back."""
