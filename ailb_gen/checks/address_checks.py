"""The checks of addresses and VLANs as entries of the catalogue."""

from __future__ import annotations

from ailb_gen.checks.model import Check, Severity

AGAIN = "Correct the intent and generate again; a line edited by hand is lost with the next generate."
UNIQUE = Check(
    "AILB101",
    Severity.ERROR,
    "no address and no prefix is on two interfaces, no prefix lies inside another's, and every address is one",
    "an address or prefix is on two interfaces, or is none",
    "Two leaves with one prefix split its traffic: half of the packets arrive at a leaf that has no such host.",
    AGAIN,
)
PLANNED = Check(
    "AILB102",
    Severity.ERROR,
    "the IRB of every leaf is up and has exactly the prefixes and gateways of the address plan, and no IPv4",
    "the IRB of a leaf is down, or has other addresses than the address plan",
    "Servers form addresses of what the leaf announces; a prefix off by one is another leaf's or nobody's.",
    AGAIN,
)
ANNOUNCED = Check(
    "AILB103",
    Severity.ERROR,
    "router advertisements announce every prefix of the IRB, on-link and autonomous, and no other",
    "router advertisements lack a prefix of the IRB, announce one too many, or announce it unusably",
    "Without its announcement no server forms an address in the prefix: one queue pair of each connection fails.",
    "Add or correct `protocols router-advertisement interface irb.N prefix`.",
)
TIMERS = Check(
    "AILB104",
    Severity.ERROR,
    "router advertisements have the intervals and lifetimes that the intent asks for, and tell hosts nothing else",
    "router advertisements differ from the intent in intervals, lifetimes or options",
    "Advertisements that are too rare delay discovery; lifetimes that are too short take addresses and routes away; "
    "other settings send hosts to DHCPv6 or change their MTU.",
    "Change the intent's `ra:` and generate again.",
)
VLANS = Check(
    "AILB105",
    Severity.ERROR,
    "every leaf has one VLAN with the id of the plan, unique as the intent asks, routed by the IRB of that number",
    "the VLAN of a leaf is missing, surplus, or has the wrong id or IRB",
    "A VLAN with another IRB, or another id, cuts its servers off from their gateway.",
    AGAIN,
)
ACCESS = Check(
    "AILB106",
    Severity.ERROR,
    "every server port is there, enabled, and a trunk with the leaf's VLAN, alone and native",
    "a server port is missing, disabled, or in the wrong VLAN or mode",
    "Servers send untagged: with another native VLAN their packets end in nobody's VLAN, or another rail's.",
    "Set native-vlan-id and vlan members to the leaf's VLAN.",
)
ROUTER_IDS = Check(
    "AILB107",
    Severity.ERROR,
    "every switch has the router-id of the plan, which is unique and the address of lo0",
    "a router-id is wrong, used twice, or not the address of lo0",
    "Two switches with one router-id refuse each other's routes, or break ties differently every time.",
    AGAIN,
)
FABRIC_PORTS = Check(
    "AILB108",
    Severity.ERROR,
    "every port of a link is enabled and has IPv6 on unit 0, and nothing else",
    "a port of a link is disabled, lacks IPv6 on unit 0, or has more than that",
    "A port that is disabled, or of the wrong family, is a cable for nothing.",
    "Configure unit 0 of the port, or take away `disable`.",
)
SPEEDS = Check(
    "AILB109",
    Severity.ERROR,
    "ports are split and clocked as the intent asks, with the same error correction and negotiation on both ends",
    "a port is split or clocked otherwise than the intent asks, or than its other end",
    "A link whose ends have different speeds stays down.",
    "Correct `speed` and `number-of-sub-ports` of the port, or give both ends the same `ether-options`.",
)
REACHABLE = Check(
    "AILB110",
    Severity.ERROR,
    "lo0 and the management port have the addresses, and management the gateway, that the intent asks for",
    "lo0 or management differs from the intent",
    "Without its own address a switch is out of reach; with another's it answers in its place.",
    AGAIN,
)
OPERATED = Check(
    "AILB111",
    Severity.ERROR,
    "SSH and NETCONF over SSH are on, BGP logs its sessions, and LLDP tells ports by their names",
    "SSH, NETCONF over SSH, logging of BGP sessions, or LLDP port names are missing",
    "The file takes away the way by which the next one comes, or what one looks at when a link fails.",
    "Put the statement back, or accept another way with a waiver.",
)
CHECKS = (
    UNIQUE, PLANNED, ANNOUNCED, TIMERS, VLANS, ACCESS, ROUTER_IDS, FABRIC_PORTS, SPEEDS, REACHABLE, OPERATED,
)  # fmt: skip
