"""Read the files of the GPU servers: NICs, routing tables, rules, sysctls, RoCE settings, environment."""
