"""Statements that change neither sessions nor routes nor what ports do with packets, with the reason why.

A pattern names a statement and everything below it. `a|b` is either word, `*` any word, `<ipv4>` an IPv4 address or
prefix, `<bogon>` an IPv4 prefix that no host uses, `<short>` less than ten seconds in milliseconds, `<show>` a command
that only shows. What is on no list, and is not read, is an error (AILB209).
Source of the names: Juniper's YANG models of Junos 24.4R1-EVO.
"""

from __future__ import annotations

HARMLESS: dict[str, str] = {
    "who may log in, and how the switch is named, managed and backed up": """
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
    "read by a switch in its factory defaults only, to find its first configuration": """
        system phone-home
    """,
    "run by hand, or showing and reporting only": """
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
    "the management ports and their own routing instance, where no packet of the fabric goes": """
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
    "LLDP's own timers and texts; whether it runs is read": """
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
    "a port that waits a moment before it comes up, and reports at once that it goes down": """
        interfaces * hold-time up <short>
        interfaces * hold-time down 0
    """,
    "the front panel, power for phones and cameras, and the use of spare parts in a chassis": """
        poe
        chassis craft-lockout|lcd|lcd-menu|config-button|usb
        chassis redundancy graceful-switchover
    """,
}
