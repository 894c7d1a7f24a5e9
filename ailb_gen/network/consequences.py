"""Known effects of statements that are not modeled; a finding shows the first that fits."""

from __future__ import annotations

from fnmatch import fnmatchcase

UNKNOWN = "its effect on sessions, routes and packets is not computed, so the proof does not cover it"
STATIC = "a static route is preferred over BGP routes: it takes the traffic of its prefix"
# A pattern of the whole statement, and what happens.
CONSEQUENCES: tuple[tuple[str, str], ...] = (
    ("system processes routing*", "without the routing daemon no BGP session comes up and no route is installed"),
    ("system processes * disable*", "a disabled daemon does nothing"),
    ("system ddos-protection*", "a small limit drops BGP, BFD or neighbor discovery packets to the processor"),
    ("system scripts commit*", "a commit script changes what is committed: the file is not what runs"),
    ("system internet-options*", "it changes the switch's own TCP and IPv6, including BGP and discovery"),
    ("system packet-forwarding-options*", "it restarts the forwarding plane with other tables"),
    ("event-options policy*", "a command or a change that an event starts can switch off anything"),
    ("chassis fpc * power*", "a line card without power has no ports"),
    ("chassis fpc *", "it decides which ports exist and how fast they are: cabled ports can go away"),
    ("chassis *", "it decides which ports exist, or how tables are shared"),
    ("interfaces interface-range*", "a range changes all ports that it names"),
    ("interfaces * unused*", "the port does not exist any more"),
    ("interfaces * ether-options 802.3ad*", "the port is a member of a bundle: it has no session and no servers"),
    ("interfaces * gigether-options 802.3ad*", "the port is a member of a bundle: it has no session and no servers"),
    ("interfaces * loopback*", "the port receives its own frames: the link is lost"),
    ("interfaces * hold-time*", "the switch notices late that a link went down or came up"),
    ("interfaces lo0 *disable*", "the loopback goes down, and the router-id with it"),
    ("interfaces lo0 disable*", "the loopback goes down, and the router-id with it"),
    ("interfaces * disable*", "the interface goes down; without a management port the switch is unreachable"),
    ("interfaces * storm-control*", "storm control drops packets over its limit, or shuts the port down"),
    ("interfaces * policer*", "a policer drops packets, lossless or not"),
    ("interfaces * rpf-check*", "the reverse path check drops packets of sources with another way back"),
    ("interfaces * dad-disable*", "addresses that are used twice go unnoticed"),
    ("interfaces * no-neighbor-learn*", "without neighbor discovery nothing can be sent on the link"),
    ("interfaces * family *", "it changes what the interface does with packets"),
    ("interfaces *", "it changes what the port does with frames"),
    ("protocols bgp *shutdown*", "the sessions are closed"),
    ("protocols bgp *prefix-limit*", "a session over its limit is closed, or drops routes"),
    ("protocols bgp *damping*", "a route that flapped is not used for minutes"),
    ("protocols bgp *graceful-shutdown*", "the peers use these routes last"),
    ("protocols bgp *hold-time*", "a short one closes sessions, a long one keeps dead ones"),
    ("protocols bgp *neighbor *", "a neighbor that is configured by address is not part of the proof"),
    ("protocols bgp *", "it changes which sessions come up, or which routes they carry"),
    ("protocols *stp *", "a spanning tree blocks ports"),
    ("protocols lldp*", "LLDP reports less, or nothing, on some ports: cables cannot be compared with the plan"),
    ("protocols router-advertisement*", "without it peers are not discovered and servers have no addresses"),
    ("protocols *-snooping*", "snooping drops multicast without a listener, neighbor discovery included"),
    ("protocols lacp*", "it concerns bundles, and the fabric has none"),
    ("protocols layer2-control*", "it shuts ports down when it sees certain frames"),
    ("protocols l2-learning*", "frames to hosts whose address is not learned, or forgotten, are flooded or dropped"),
    ("protocols *", "another protocol can change routes, or block ports"),
    ("routing-instances * interface*", "the interface leaves the main table: its session and its routes are gone"),
    ("routing-instances *", "an instance takes interfaces and routes out of the main table"),
    ("routing-options static*", STATIC),
    ("routing-options rib * static*", STATIC),
    ("routing-options *aggregate*", "an aggregate discards packets to the addresses that it covers alone"),
    ("routing-options *generate*", "a generated route takes traffic of its prefix"),
    ("routing-options *martians*", "routes of that prefix are refused"),
    ("routing-options *maximum-*", "routes or paths over the limit are refused"),
    ("routing-options *", "it changes which routes are used"),
    ("policy-options *", "it changes which routes policies let through"),
    ("forwarding-options *dhcp-security*", "access security drops router advertisements and neighbor discovery"),
    ("forwarding-options access-security*", "access security drops router advertisements and neighbor discovery"),
    ("forwarding-options *", "it changes how packets are spread, filtered or copied"),
    ("vlans *", "it changes which frames the VLAN carries"),
    ("switch-options *", "a limit on MAC addresses drops the frames of servers"),
    ("class-of-service *", "it changes which packets wait, and which are dropped"),
    ("security macsec*", "a port with MACsec at one end carries nothing"),
    ("multi-chassis*", "it joins ports of two switches"),
    ("logical-systems*", "it takes interfaces and protocols out of the switch"),
    ("tenants*", "it takes interfaces and protocols out of the switch"),
)


def consequence(statement: str) -> str:
    """Return the known effect of a statement, else that it is unknown."""
    return next((text for pattern, text in CONSEQUENCES if fnmatchcase(statement, pattern)), UNKNOWN)
