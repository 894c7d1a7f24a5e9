"""The design beside a source of truth, NetBox or Nautobot: neutral records, plans, pushes and pulls."""
