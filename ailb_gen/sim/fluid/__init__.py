"""The fluid mode: flows with max-min fair rates instead of packets, for fabrics that packets cannot reach."""
