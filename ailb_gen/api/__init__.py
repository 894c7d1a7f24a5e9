"""The services behind the verbs: typed values in, typed values out. `ailb_gen` exports the public ones."""
