"""A fake of Batfish, because a real service cannot run where the tests run.

It shares nothing with the program: not its parser, not its simulator, not its translation. It reads IPv4 shadows (every
statement, or it fails) and real files (as far as Batfish does), computes routes, and writes the columns of Batfish's
answers that the program reads. `test_contract.py` compares it with the recorded answers of a real service,
`test_real.py` with a service that runs.

`text.py` parses lines, `model.py` reads switches, `snapshot.py` has their interfaces, sessions and walks of packets,
`routes.py` their routes; `answers.py` answers questions, `store.py` and `service.py` do so over HTTP, `near.py` in this
process.
"""
