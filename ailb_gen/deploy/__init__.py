"""Pushing safely: inventory from intent, plan, waves, commit confirmed, verify, confirm, roll back, drift.

Who is reached, and how: `inventory` and its files, `credentials`, `host_keys`; `login` (SSH) and `netconf` are the
connection, `resource_limits` what it may take; the `device_pool` works on many devices at once, and a `session` holds
it with intent, inventory and files (`artifacts`).
A switch: `switch_driver` (the Protocol, the steps of a push), `drivers` (NAPALM, PyEZ), `ownership` (what a push owns),
`unmanaged` (what else acts on it). A server: `servers/`.
Before a push: `device_diff` and `planning`, `impact` (what that affects), `plan_file`, `approval`, `side_by_side`.
A push: `deployment` (what users start), `wave`, `transaction` (a device), `push` (options and record), `run_hooks`.
Past runs: `run_history`, `record_file`, `run_summary`, `recorded_changes`, `run_pruning`, `run_json`.
Expected and observed: `switch_state`, `verification`. Reports of plans and runs: `report/`.
"""
