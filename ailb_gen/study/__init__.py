"""Published experiments, repeated: scenarios, published numbers, claims, figures."""
