"""Secrets kept out of everything that people read: messages, records, reports, differences, collected files.

`text` is the one entrance: whatever the text is, its statements (`statements`, Junos), its lines (`lines`: YAML, INI,
shell) and its forms (`forms`: hashes, URLs, keys in PEM, XML) are looked at. `names` says which names hold secrets, for
all of them. `known` replaces values that are known, wherever they stand.
"""
