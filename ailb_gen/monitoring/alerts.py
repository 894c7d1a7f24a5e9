"""Alerts: what the fabric should do and does not, each with the page that says what to do.

An alert waits only where its cause may be a moment: the first rate after a change mixes the time before and after it,
which looks uneven; a link that comes up has its session some seconds later; a failure that backups take over drops or
reorders what was on its way. A rate of that one interval then ends before the alert fires.
"""

from __future__ import annotations

from typing import Any, NamedTuple

# Where all leaves are meant, the series has no device.
_LEAF = (
    "{{ if $labels.device }}{{ $labels.device }} (stripe {{ $labels.stripe }}, rail {{ $labels.rail }})"
    "{{ else }}all leaves{{ end }}"
)
_PORT = "{{ $labels.device }} {{ $labels.interface }}"
_TO = "color {{ $labels.color }}, to {{ $labels.peer }}"
_TIMES = '{{ $value | printf "%.2f" }} times the expected load'
# Scrape intervals until an alert fires: none, more than one rate, and those of an exporter that starts.
AT_ONCE, LASTING, LATER = 0.0, 1.5, 4.0


class Alert(NamedTuple):
    """An alert: `expr` has FABRIC for the selector of a fabric and WINDOW for some intervals.

    `intervals` is how long its cause must last, `page` the page of the documentation that says what to do.
    """

    name: str
    severity: str
    expr: str
    intervals: float
    page: str
    summary: str
    description: str


def _of_servers(counter: str) -> str:
    return f"sum by (fabric, server, nic) (rate(ailb_host_{counter}_total{{FABRIC}}[WINDOW]))"


def _of_watch(figure: str) -> str:
    # Of a watch that has ended, too.
    return f"max by (fabric) (max_over_time(ailb_watch_{figure}_seconds{{FABRIC}}[1d]))"


ALERTS = (
    Alert(
        "AilbWrongColor",
        "warning",
        "ailb_color:wrong:ratio{FABRIC}",
        AT_ONCE,
        "wrong-color",
        "{{ $labels.device }} receives nothing by color {{ $labels.color }} and too much by another one",
        "The uplinks of color {{ $labels.color }} are up. Prefixes of this leaf are advertised with a wrong color, or "
        "its ports have one, so two colors share the links of one.",
    ),
    Alert(
        "AilbColorOnBackup",
        "warning",
        "ailb_color:moved:ratio{FABRIC}",
        AT_ONCE,
        "color-on-backup",
        f"Traffic of color {{{{ $labels.color }}}} to {_LEAF} takes the links of other colors",
        "The color has no path to these servers, so its backup colors carry their queue pairs. Nothing is lost, "
        "but links of other colors carry more than their part.",
    ),
    Alert(
        "AilbSilentLink",
        "critical",
        "ailb_uplink:silent:ratio{FABRIC}",
        AT_ONCE,
        "silent-link",
        f"{_PORT} is up and sends next to nothing, while other uplinks of the leaf carry load",
        f"The uplink ({_TO}) is expected to carry its part. A port that is up and drops everything looks like this.",
    ),
    Alert(
        "AilbHotSpine",
        "warning",
        "ailb_fabric:spine_hot:ratio{FABRIC}",
        AT_ONCE,
        "hot-spine",
        f"{{{{ $labels.spine }}}} carries {_TIMES}",
        "All leaves together send more to this spine than forwarding says. Queue pairs are not spread evenly over the "
        "colors, or traffic without a color is hashed onto one spine.",
    ),
    Alert(
        "AilbUnevenLoad",
        "warning",
        "ailb_leaf:uneven:ratio{FABRIC}",
        LASTING,
        "uneven-load",
        f"An uplink of {{{{ $labels.device }}}} carries {_TIMES}",
        "No other alert explains it. Queue pairs may leave from addresses of one color, or be hashed by ECMP.",
    ),
    Alert(
        "AilbUplinkDown",
        "critical",
        "ailb_uplink:up:bool{FABRIC} == 0",
        AT_ONCE,
        "sessions-down",
        f"{_PORT} is down",
        f"The uplink ({_TO}) is in service in the fabric file. Its traffic takes the backup of the color.",
    ),
    Alert(
        "AilbSessionsDown",
        "critical",
        "ailb_switch:sessions:unexplained{FABRIC}",
        LASTING,
        "sessions-down",
        "{{ $labels.device }} lacks {{ $value }} BGP sessions on links that are up",
        "More sessions are missing than links are down. A link without its session carries no traffic.",
    ),
    Alert(
        "AilbOutOfOrder",
        "warning",
        f"{_of_servers('out_of_order')} > 1",
        LASTING,
        "out-of-order",
        "{{ $labels.server }} {{ $labels.nic }} receives packets out of order",
        "{{ $value | humanize }} packets per second. With a color per queue pair all packets of a connection take one "
        "path; out of order means several paths, or loss.",
    ),
    Alert(
        "AilbCongestion",
        "warning",
        f"{_of_servers('cnp_sent')} > 0.001 * {_of_servers('rdma_rx_packets')}",
        LATER,
        "out-of-order",
        "{{ $labels.server }} {{ $labels.nic }} sends {{ $value | humanize }} congestion notifications per second",
        "More than one packet in a thousand is marked on its way here. With even loads only incast does that.",
    ),
    Alert(
        "AilbDrops",
        "critical",
        "ailb_uplink:tx_discards:rate{FABRIC} > 0 or ailb_uplink:rx_discards:rate{FABRIC} > 0",
        LASTING,
        "link-errors",
        f"{_PORT} drops {{{{ $value | humanize }}}} packets per second",
        f"RDMA is lossless in this fabric: this uplink ({_TO}) should drop nothing.",
    ),
    Alert(
        "AilbLinkErrors",
        "warning",
        "ailb_uplink:rx_errors:rate{FABRIC} > 0",
        LASTING,
        "link-errors",
        f"{_PORT} receives {{{{ $value | humanize }}}} damaged frames per second",
        f"FEC no longer repairs what the cable or optic of this uplink ({_TO}) damages.",
    ),
    Alert(
        "AilbPauses",
        "warning",
        "ailb_uplink:rx_pauses:rate{FABRIC} > 1000",
        LATER,
        "pfc-storms",
        f"{_PORT} is paused by {{{{ $labels.peer }}}}",
        "{{ $value | humanize }} pause frames per second. Follow them to the port that receives them and sends none.",
    ),
    Alert(
        "AilbNoTelemetry",
        "warning",
        # A spine that is drained has no session to expect, and may be switched off.
        "max by (fabric, device) (ailb_switch_expected_sessions{FABRIC}) > 0 unless on (fabric, device) "
        "ailb_uplink:tx_bits:rate{FABRIC}",
        LATER,
        "no-telemetry",
        "There are no counters of {{ $labels.device }}",
        "The collector has none, or Prometheus does not scrape it. No other alert can fire for this switch.",
    ),
    Alert(
        "AilbNoExpectations",
        "critical",
        "absent(ailb_uplink_info{FABRIC}) or absent(ailb_switch_expected_sessions{FABRIC})",
        LATER,
        "no-telemetry",
        "Prometheus does not scrape uplinks.prom and expected.prom of fabric {{ $labels.fabric }}",
        "All other alerts compare with them: without them none fires.",
    ),
    # The metrics of `ailb-gen watch`. Where it does not run there are none, and nothing fires.
    Alert(
        "AilbDrift",
        "warning",
        'sum by (fabric, device) (ailb_watch_findings{FABRIC, check!="AILBD03"}) > 0',
        LASTING,
        "drift",
        "{{ $labels.device }} does not run its files: {{ $value }} findings",
        "Somebody changed the device by hand, a push did not finish, or the files were changed and not pushed.",
    ),
    Alert(
        "AilbDeviation",
        "warning",
        'sum by (fabric, device) (ailb_watch_findings{FABRIC, check="AILBD03"}) > 0',
        LATER,
        "drift",
        "The state of {{ $labels.device }} is not as its files bring about: {{ $value }} findings",
        "A session, an advertised prefix, an MTU, a next hop or an alarm; of a server its addresses and NICs.",
    ),
    Alert(
        "AilbNotAnswering",
        "warning",
        "max by (fabric, device) (ailb_watch_device_answers{FABRIC}) == 0",
        LATER,
        "drift",
        "{{ $labels.device }} does not answer over SSH",
        "Nothing is known about its drift until it answers: the management network, the login, or its host key.",
    ),
    Alert(
        "AilbFilesUnusable",
        "warning",
        # In the first of these rounds they may just have been written.
        "max by (fabric) (ailb_watch_former_files_rounds{FABRIC}) > 1",
        AT_ONCE,
        "drift",
        "ailb-gen watch cannot use the files of fabric {{ $labels.fabric }}",
        "For {{ $value }} rounds it has compared with the files before, so what it finds may be wrong.",
    ),
    Alert(
        "AilbWatchStopped",
        "warning",
        # A round may take longer than the interval.
        f"time() - {_of_watch('last_round_timestamp')} > 3 * ({_of_watch('interval')} + {_of_watch('round')})",
        LASTING,
        "drift",
        "Nobody watches fabric {{ $labels.fabric }} for drift any more",
        "The last round of ailb-gen watch ended {{ $value | humanizeDuration }} ago.",
    ),
)


def alert_rules(fabric: str, interval_s: int, runbooks: str, waiting: bool) -> list[dict[str, Any]]:
    """Return the alerts of a fabric as rules of Prometheus: those at once, or those that wait.

    `runbooks` is the URL of the documentation; without one, alerts name the file of their page.
    """
    return [_rule(alert, fabric, interval_s, runbooks) for alert in ALERTS if waiting == (alert.intervals > 0)]


def _rule(alert: Alert, fabric: str, interval_s: int, runbooks: str) -> dict[str, Any]:
    expr = alert.expr.replace("FABRIC", f'fabric="{fabric}"').replace("WINDOW", f"{4 * interval_s}s")
    page = f"troubleshooting/{alert.page}"
    runbook = {"runbook_url": f"{runbooks.rstrip('/')}/{page}.html"} if runbooks else {"runbook": f"docs/{page}.md"}
    return {
        "alert": alert.name,
        "expr": expr,
        **({"for": f"{int(alert.intervals * interval_s)}s"} if alert.intervals else {}),
        "labels": {"severity": alert.severity},
        "annotations": {
            "summary": alert.summary,
            "description": alert.description,
            **runbook,
        },
    }
