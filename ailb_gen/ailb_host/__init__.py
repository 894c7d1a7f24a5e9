"""`ailb-host`, the program for GPU servers: Python 3.8 or later, its standard library, and nothing of ailb-gen.

`ailb_gen.render.host_program` packs these modules into the file that servers get.
"""
