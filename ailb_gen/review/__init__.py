"""What a change of a fabric's files does, for a merge request: devices, findings, impact, loads."""
