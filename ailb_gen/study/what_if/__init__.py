"""The user's own study: the cost of load balancers and failures for a training job."""
