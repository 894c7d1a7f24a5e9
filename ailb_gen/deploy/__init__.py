"""Pushing safely: inventory from intent, plan, waves, commit confirmed, verify, confirm, roll back, drift.

Who is reached, and how: `inventory`, `inventory_models`, `devices`, `credentials`, `hostkeys`, `known_hosts`,
`ssh_config`, `redact`; `bounded` (deadlines, limits), `login` (SSH), `netconf`; `fleet` makes of them
the `device_pool` that works on many devices at once. `context` holds it with intent, inventory and `inputs`.
A switch: `switch` (the Protocol), `drivers` and `calls` (NAPALM, PyEZ), `ownership` (what a push owns). A server:
`servers/`.
Before a push: `planning` (what would be done), `edits`, `besides`, `wave_order`, `impact` (what that touches),
`planfile`, `plan_signature` and `approval`.
A push: `runs` (what users start), `rollout` (all waves), `wave`, `transaction` (a device); its `options`, its record
(`runlog`), and the records of earlier runs (`past`).
What is expected and what is seen: `fabric_model`, `verify`, `findings`, `collect`.
"""
