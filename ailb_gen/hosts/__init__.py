"""What the files of the GPU servers say: NICs, routing tables, rules, sysctls, RoCE settings, environment."""
