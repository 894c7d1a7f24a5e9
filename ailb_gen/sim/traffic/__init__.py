"""Traffic: collectives, training jobs, arrivals, flow lists."""
