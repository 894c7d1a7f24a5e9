"""BIRD speaks BGP and sends router advertisements for the switches of a lab: its configuration, its answers."""
