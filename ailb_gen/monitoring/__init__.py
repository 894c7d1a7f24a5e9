"""Monitoring of a fabric: what Prometheus and Grafana need, and what the fabric should do, as rules."""
