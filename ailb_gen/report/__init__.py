"""The reports: one result model, written for people, for merge requests and for machines."""
