"""Names that Junos takes for numbers in the match conditions of firewall filters (from the registries of IANA)."""

from __future__ import annotations

PROTOCOLS = {
    "hop-by-hop": 0, "icmp": 1, "igmp": 2, "ipip": 4, "tcp": 6, "egp": 8, "udp": 17, "ipv6": 41, "routing": 43,
    "fragment": 44, "rsvp": 46, "gre": 47, "esp": 50, "ah": 51, "icmp6": 58, "icmpv6": 58, "no-next-header": 59,
    "dstopts": 60, "ospf": 89, "pim": 103, "vrrp": 112, "sctp": 132,
}  # fmt: skip
ICMP6_TYPES = {
    "destination-unreachable": 1, "packet-too-big": 2, "time-exceeded": 3, "parameter-problem": 4,
    "echo-request": 128, "echo-reply": 129, "membership-query": 130, "membership-report": 131,
    "membership-termination": 132, "router-solicit": 133, "router-advertisement": 134, "neighbor-solicit": 135,
    "neighbor-advertisement": 136, "redirect": 137, "router-renumbering": 138, "node-information-request": 139,
    "node-information-reply": 140,
}  # fmt: skip
PORTS = {
    "ftp-data": 20, "ftp": 21, "ssh": 22, "telnet": 23, "smtp": 25, "tacacs": 49, "domain": 53, "tacacs-ds": 65,
    "bootps": 67, "dhcp": 67, "bootpc": 68, "tftp": 69, "finger": 79, "http": 80, "kerberos-sec": 88, "pop3": 110,
    "sunrpc": 111, "ident": 113, "nntp": 119, "ntp": 123, "netbios-ns": 137, "netbios-dgm": 138, "netbios-ssn": 139,
    "imap": 143, "snmp": 161, "snmptrap": 162, "xdmcp": 177, "bgp": 179, "ldap": 389, "mobileip-agent": 434,
    "mobilip-mn": 435, "https": 443, "snpp": 444, "biff": 512, "exec": 512, "login": 513, "who": 513, "cmd": 514,
    "syslog": 514, "printer": 515, "talk": 517, "ntalk": 518, "rip": 520, "timed": 525, "klogin": 543, "kshell": 544,
    "msdp": 639, "ldp": 646, "krb-prop": 754, "krbupdate": 760, "kpasswd": 761, "socks": 1080, "afs": 1483,
    "pptp": 1723, "radius": 1812, "radacct": 1813, "nfsd": 2049, "eklogin": 2105, "ekshell": 2106, "rkinit": 2108,
    "zephyr-srv": 2102, "zephyr-clt": 2103, "zephyr-hm": 2104, "cvspserver": 2401,
}  # fmt: skip
