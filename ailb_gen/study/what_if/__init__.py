"""The user's own study: what balancers and failures cost a training job on a fabric."""
