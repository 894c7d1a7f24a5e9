"""The BGP-DPF control plane: advertisements to RIBs to FIBs."""
