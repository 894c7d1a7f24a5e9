"""Pushing safely: inventory from intent, plan, waves, commit confirmed, verify, confirm, roll back, drift.

Who is reached, and how: `inventory`, `inventory_models`, `devices`, `credentials`, `hostkeys`, `known_hosts`,
`ssh_config`, `redact`; `bounded` (deadlines, limits), `login` (SSH), `netconf`; `fleet` makes of them
the `crew` that works on many devices at once.
A switch: `switch` (the Protocol), `drivers` and `calls` (NAPALM, PyEZ), `ownership` (what a push owns). A server:
`servers/`.
Before a push: `inputs`, `prospect` (what would be done), `waves` (the order), `blast` (what that touches), `planfile`.
A push: `member` (a device), `push` (a wave), `campaign` (all waves), `runs` (what users start), `runlog` (the record).
What is expected and what is seen: `scene`, `verify`, `findings`, `collect`, `collected`. What the verbs share: `desk`.
"""
