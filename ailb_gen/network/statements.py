"""Tables of the statements of switches: which are read, which are harmless, and what others are known to do.

A pattern names a statement and everything below it; with `;` at the end nothing may stand below. `a|b` is either word,
`*` any word, `#` a word that begins with a digit, `<port.unit>` a logical interface, `<ipv4>` an IPv4 address or
prefix, `<bogon>` an IPv4 prefix that no host uses, `<short>` less than ten seconds in milliseconds, `<show>` a command
that only shows. What is neither read nor harmless is an error (AILB209).
Source of the names: Juniper's YANG models of Junos 24.4R1-EVO.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from ailb_gen.network.bgp import FORBIDDEN

# Filters are read and tried with the packets of the fabric.
FILTER = "filter input|output|input-list|output-list * ;"
# What may not stand beside auto-discovery is named by a check of its own.
BESIDE_DISCOVERY = "|".join(FORBIDDEN)
SETTINGS = """
    description|disable|export|fabric-color|import|log-updown|peer-as
    bfd-liveness-detection minimum-interval|multiplier
    family inet6 unicast aigp disable
    graceful-shutdown receiver disable|local-preference
    graceful-shutdown sender ;
    local-as # ;
    multipath disable|multiple-as
"""
SESSION = f"""{SETTINGS}
    {BESIDE_DISCOVERY}
    peer-as-list|type
"""
# Read: their values are compared with the intent or used in computations. Statement above the patterns -> patterns.
READ: dict[str, str] = {
    "chassis": "maximum-ecmp",
    "class-of-service": """
        dedicated-buffer|shared-buffer
        classifiers dscp|dscp-ipv6 * forwarding-class * loss-priority * code-points
        congestion-notification-profile * pfc-watchdog ;
        congestion-notification-profile * input dscp code-point * pfc ;
        congestion-notification-profile * output ieee-802.1 code-point * flow-control-queue
        drop-profiles * interpolate drop-probability|fill-level
        forwarding-classes class * no-loss ;
        forwarding-classes class * pfc-priority|queue-num # ;
        interfaces * congestion-notification-profile|scheduler-map
        interfaces * classifiers dscp|dscp-ipv6
        interfaces * unit * classifiers dscp|dscp-ipv6
        scheduler-maps * forwarding-class * scheduler
        schedulers * drop-profile-map|priority|transmit-rate
        schedulers * explicit-congestion-notification ;
    """,
    "forwarding-options": f"""
        enhanced-hash-key ecmp-dlb
        family inet6 {FILTER}
    """,
    # A unit is written below its port: a device takes `et-0/0/0.0` for it, which is no port of that name.
    "interfaces <port.unit>": ";",
    "interfaces lo0": f"""
        description
        unit * description
        unit * family iso|mpls|inet
        unit * family inet6 address * preferred|primary
        unit * family inet6|any {FILTER}
    """,
    "interfaces *": f"""
        description|disable|mtu|native-vlan-id|number-of-sub-ports|speed
        ether-options|gigether-options auto-negotiation|fec|no-auto-negotiation
        unit * description|disable
        unit * family inet
        unit * family inet6 address * ;
        unit * family inet6 mtu
        unit * family ethernet-switching interface-mode access|trunk ;
        unit * family ethernet-switching vlan members
        unit * family inet6|ethernet-switching {FILTER}
    """,
    # Conditions and actions that are not evaluated are found where a policy is used.
    "policy-options": """
        as-list|community * members
        policy-statement * from|then|to
        policy-statement * term * from|then|to
        prefix-list * apply-path
        prefix-list * * ;
    """,
    "protocols lldp": """
        disable ;
        interface * disable ;
    """,
    # What it says on an interface is compared with the intent, word by word.
    "protocols router-advertisement interface *": """
        prefix * autonomous|no-autonomous|no-on-link|on-link|preferred-lifetime|valid-lifetime
        *
    """,
    "protocols bgp": f"""{SESSION}
        fabric-advertise route * backup-color|color
        global-load-balancing
    """,
    "protocols bgp group *": f"""{SESSION}
        dynamic-neighbor * {BESIDE_DISCOVERY}
        dynamic-neighbor * peer-auto-discovery family inet6 ipv6-nd ;
        dynamic-neighbor * peer-auto-discovery interface * disable
    """,
    "protocols bgp group * neighbor *": SETTINGS,
    "routing-instances": "mgmt_junos ;",
    "routing-options": """
        autonomous-system # ;
        forwarding-table ecmp-fast-reroute ;
        forwarding-table export
        router-id
    """,
    "system": "host-name",
    "vlans *": f"""
        description|l3-interface|vlan-id
        forwarding-options {FILTER}
    """,
}


# They change neither sessions nor routes nor what ports do with packets. Reason -> patterns.
HARMLESS: dict[str, str] = {
    "logins, names, management and backups of the switch": """
        system root-authentication|login|authentication-order|accounting
        system radius-server|radius-options|tacplus-server|tacplus-options|password-options
        system domain-name|domain-search|name-server|name-resolution|location|time-zone|static-host-mapping
        system services ssh|netconf|telnet|ftp|tftp-server|finger|web-management|outbound-ssh
        system services http|outbound-https|rest|netproxy|xnm-clear-text|xnm-ssl|resource-monitor
        system services extension-service request-response|notification|traceoptions
        system ntp|archival|license|ports|management-instance|backup-router|inet6-backup-router
        system commit synchronize|fast-synchronize|server|delta-export|persist-groups-inheritance|factory-settings
        system extensions providers
        system configuration-database|compress-configuration-files|no-compress-configuration-files
        system encrypt-configuration-files|max-configurations-on-flash|max-configuration-rollbacks|master-password
        system auto-snapshot|dump-device|dump-on-panic|saved-core-context|saved-core-files|no-saved-core-context
        system diag-port-authentication|pic-console-authentication|boot-loader-authentication|fips
        system no-hidden-commands
        system default-address-selection|export-format|proxy
        access
        version
    """,
    "logs, traps, counters and telemetry: they observe only": """
        system syslog|tracing|no-remote-trace|health-monitor
        system processes * traceoptions
        protocols bgp traceoptions
        protocols bgp group * traceoptions
        protocols router-advertisement traceoptions
        snmp
        accounting-options
        services analytics|rpm|flow-monitoring
        protocols sflow
        protocols l2-learning telemetry
        protocols lldp traceoptions
        forwarding-options sampling
        routing-options traceoptions|options
        interfaces traceoptions
        interfaces * accounting-profile|traps|no-traps|traceoptions
        interfaces * unit * accounting-profile|traps|no-traps|description
        interfaces * optics-options alarm * syslog
        interfaces * optics-options warning * syslog
        chassis alarm
        chassis fpc * traffic-manager buffer-monitor-enable
        routing-instances mgmt_junos description
    """,
    "used only by a switch with factory defaults, to find its first configuration": """
        system phone-home
    """,
    "run by hand, or only showing and reporting": """
        system scripts op|snmp|language|synchronize
        event-options destinations|generate-event|traceoptions
        event-options policy * events|within|attributes-match
        event-options policy * then ignore|raise-trap|upload|priority-override
        event-options policy * then execute-commands output-filename|output-format|destination|user-name
        event-options policy * then execute-commands commands <show>
    """,
    "protection of the switch's own processor and keys; no packet of the fabric is affected": """
        security ssh-known-hosts|certificates|pki|authentication-key-chains|log
        system ddos-protection traceoptions
        system ddos-protection global disable-logging|disable-fpc|disable-routing-engine
        system ddos-protection protocols * * disable-logging|disable-fpc|disable-routing-engine
        system internet-options icmpv4-rate-limit|icmpv6-rate-limit|tcp-drop-synfin-set|no-tcp-reset
        system internet-options source-quench|no-source-quench|path-mtu-discovery|no-path-mtu-discovery
        system internet-options gre-path-mtu-discovery|no-gre-path-mtu-discovery|ipip-path-mtu-discovery
        system internet-options no-ipip-path-mtu-discovery|ipv6-path-mtu-discovery|no-ipv6-path-mtu-discovery
        system internet-options ipv6-path-mtu-discovery-timeout|no-tcp-rfc1323|no-tcp-rfc1323-paws|source-port
        system internet-options ipv6-reject-zero-hop-limit|no-ipv6-reject-zero-hop-limit
        system no-redirects|no-redirects-ipv6|no-ping-record-route|no-ping-time-stamp|no-multicast-echo
    """,
    "daemons that the fabric does not use": """
        system processes * enable
        system processes app-engine-virtual-machine-management-service|web-management
        system processes dhcp-service|general-authentication-service|sdk-service|ntp|named-service|snmp
    """,
    "the management ports and their own routing instance, without packets of the fabric": """
        interfaces fxp0|em0|em1|me0|me1|vme description|traps|no-traps|speed|link-mode
        interfaces fxp0|em0|em1|me0|me1|vme unit * description|family
        interfaces re0:mgmt-0|re0:mgmt-1|re1:mgmt-0|re1:mgmt-1 description|traps|no-traps|speed|link-mode
        interfaces re0:mgmt-0|re0:mgmt-1|re1:mgmt-0|re1:mgmt-1 unit * description|family
        routing-instances mgmt_junos routing-options static route * next-hop|qualified-next-hop|preference|metric|tag
        routing-instances mgmt_junos routing-options static route * retain|no-retain|readvertise|no-readvertise
        routing-instances mgmt_junos routing-options static route <bogon>
        routing-instances mgmt_junos routing-options static defaults preference|metric|tag|retain|no-readvertise
        routing-instances mgmt_junos routing-options rib * static route * next-hop|qualified-next-hop|preference|metric
        routing-instances mgmt_junos routing-options rib * static route * tag|retain|no-retain|no-readvertise
    """,
    "IPv4 carries none of the fabric's packets": """
        system arp
        routing-options static route <ipv4> next-hop|qualified-next-hop|preference|metric|tag|retain|no-retain
        routing-options static route <ipv4> readvertise|no-readvertise|install|no-install|resolve|no-resolve
        routing-options static route <ipv4> next-table
        routing-options static route <bogon>
        forwarding-options hash-key family inet
    """,
    "timers and texts of LLDP; whether it runs is checked": """
        protocols lldp advertisement-interval|hold-multiplier|transmit-delay|ptopo-configuration-trap-interval
        protocols lldp ptopo-configuration-maximum-hold-time|lldp-configuration-notification-interval
        protocols lldp management-address|mau-type|port-id-subtype|port-description-type|neighbour-port-info-display
        protocols lldp dest-mac-type|vlan-name-tlv-option
        protocols lldp interface * trap-notification
        protocols lldp-med
    """,
    "definitions: they have no effect until an evaluated statement refers to them": """
        firewall
        applications
        policy-options as-path|as-path-group|condition|damping|rtf-prefix-list
        policy-options route-filter-list
        class-of-service rewrite-rules|traffic-control-profiles|code-point-aliases|loss-priority-maps
        class-of-service classifiers exp|ieee-802.1|ieee-802.1ad|inet-precedence
        forwarding-options storm-control-profiles
        forwarding-options dhcp-relay server-group
        forwarding-options analyzer * input
        forwarding-options port-mirroring input
        forwarding-options port-mirroring instance * input
        routing-options static defaults preference|metric|tag|retain|no-readvertise
        system scripts commit allow-transients|max-datasize|traceoptions
        chassis aggregated-devices
    """,
    "hold times: a short delay for up, none for down": """
        interfaces * hold-time up <short>
        interfaces * hold-time down 0
    """,
    "the front panel, PoE and chassis redundancy": """
        poe
        chassis craft-lockout|lcd|lcd-menu|config-button|usb
        chassis redundancy graceful-switchover
    """,
}


UNKNOWN = "its effect on sessions, routes and packets is not computed, so validation does not cover it"
STATIC = "a static route is preferred over BGP routes: it attracts the traffic of its prefix"
# Known effects of others: a pattern of the whole statement, and what happens; a finding shows the first that fits.
CONSEQUENCES: tuple[tuple[str, str], ...] = (
    ("system processes routing*", "without the routing daemon no BGP session comes up and no route is installed"),
    ("system processes * disable*", "a disabled daemon does nothing"),
    ("system ddos-protection*", "a small limit drops BGP, BFD or neighbor discovery packets to the processor"),
    ("system scripts commit*", "a commit script changes what is committed: the file is not what runs"),
    ("system internet-options*", "it changes the switch's own TCP and IPv6, including BGP and discovery"),
    ("system packet-forwarding-options*", "it restarts the forwarding plane with other tables"),
    ("event-options policy*", "a command or a change that an event triggers can disable anything"),
    ("chassis fpc * power*", "a line card without power has no ports"),
    ("chassis fpc *", "it decides which ports exist and how fast they are: cabled ports can disappear"),
    ("chassis *", "it decides which ports exist, or how tables are shared"),
    ("interfaces interface-range*", "a range changes all its ports"),
    ("interfaces * unused*", "the port does not exist any more"),
    ("interfaces * ether-options 802.3ad*", "the port is a member of a bundle: it has no session and no servers"),
    ("interfaces * gigether-options 802.3ad*", "the port is a member of a bundle: it has no session and no servers"),
    ("interfaces * loopback*", "the port receives its own frames: the link is lost"),
    ("interfaces * hold-time*", "the switch detects late that a link went down or came up"),
    ("interfaces lo0 *disable*", "the loopback goes down, and the router-id with it"),
    ("interfaces lo0 disable*", "the loopback goes down, and the router-id with it"),
    ("interfaces * disable*", "the interface goes down; without a management port the switch is unreachable"),
    ("interfaces * storm-control*", "storm control drops packets over its limit, or shuts the port down"),
    ("interfaces * policer*", "a policer drops packets, lossless or not"),
    ("interfaces * rpf-check*", "the reverse path check drops packets of sources with another return path"),
    ("interfaces * dad-disable*", "duplicate addresses are not detected"),
    ("interfaces * no-neighbor-learn*", "without neighbor discovery nothing can be sent on the link"),
    ("interfaces * family *", "it changes what the interface does with packets"),
    ("interfaces *", "it changes what the port does with frames"),
    ("protocols bgp *shutdown*", "the sessions are closed"),
    ("protocols bgp *prefix-limit*", "a session over its limit is closed, or drops routes"),
    ("protocols bgp *damping*", "a route that flapped is not used for minutes"),
    ("protocols bgp *graceful-shutdown sender*", "it concerns internal sessions, and the fabric has none"),
    ("protocols bgp *hold-time*", "a short one closes sessions, a long one keeps dead ones"),
    ("protocols bgp *multihop*", "fabric colors are for directly connected neighbors"),
    ("protocols bgp *", "it changes which sessions come up, or which routes they carry"),
    ("protocols *stp *", "a spanning tree blocks ports"),
    ("protocols lldp*", "LLDP reports less, or nothing, on some ports: cables cannot be compared with the plan"),
    ("protocols router-advertisement*", "without it peers are not discovered and servers have no addresses"),
    ("protocols *-snooping*", "snooping drops multicast without a listener, neighbor discovery included"),
    ("protocols lacp*", "it concerns bundles, and the fabric has none"),
    ("protocols layer2-control*", "it shuts ports down when it receives certain frames"),
    ("protocols l2-learning*", "frames to hosts whose address is not learned, or forgotten, are flooded or dropped"),
    ("protocols *", "another protocol can change routes, or block ports"),
    ("routing-instances * interface*", "the interface leaves the main table: its session and its routes are lost"),
    ("routing-instances *", "an instance removes interfaces and routes from the main table"),
    ("routing-options static*", STATIC),
    ("routing-options rib * static*", STATIC),
    ("routing-options *aggregate*", "an aggregate discards packets to the addresses that it covers alone"),
    ("routing-options *generate*", "a generated route attracts the traffic of its prefix"),
    ("routing-options *martians*", "routes of that prefix are rejected"),
    ("routing-options *maximum-*", "routes or paths over the limit are rejected"),
    ("routing-options *", "it changes which routes are used"),
    ("policy-options *", "it changes which routes policies accept"),
    ("forwarding-options *dhcp-security*", "access security drops router advertisements and neighbor discovery"),
    ("forwarding-options access-security*", "access security drops router advertisements and neighbor discovery"),
    ("forwarding-options *", "it changes how packets are spread, filtered or copied"),
    ("vlans *", "it changes which frames the VLAN carries"),
    ("switch-options *", "a limit on MAC addresses drops the frames of servers"),
    ("class-of-service *", "it changes which packets are queued, and which are dropped"),
    ("security macsec*", "a port with MACsec at one end carries nothing"),
    ("multi-chassis*", "it joins ports of two switches"),
    ("logical-systems*", "it takes interfaces and protocols out of the switch"),
    ("tenants*", "it takes interfaces and protocols out of the switch"),
)


def consequence(statement: str) -> str:
    """Return the known effect of a statement, else that it is unknown."""
    return next((text for pattern, text in CONSEQUENCES if fnmatchcase(statement, pattern)), UNKNOWN)
