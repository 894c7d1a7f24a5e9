"""Pushing safely: inventory from intent, plan, waves, commit confirmed, verify, confirm, roll back, drift.

Who is reached, and how: `inventory`, `inventory_models`, `devices`, `credentials`, `hostkeys`, `known_hosts`,
`ssh_config`, `redact`; `bounded` (deadlines, limits), `login` (SSH), `netconf`; `fleet` makes of them
the `device_pool` that works on many devices at once.
A switch: `switch` (the Protocol), `drivers` and `calls` (NAPALM, PyEZ), `ownership` (what a push owns). A server:
`servers/`.
Before a push: `inputs`, `planning` (what would be done), `wave_order`, `impact` (what that touches), `planfile`.
A push: `transaction` (a device), `wave`, `rollout` (all waves), `runs` (what users start), `runlog` (the record).
What is expected and what is seen: `fabric_model`, `verify`, `findings`, `collect`, `collected`.
What the verbs share: `context`.
"""
