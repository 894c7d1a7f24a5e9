"""Grafana dashboards over the recorded series: the fabric, a color, a leaf, and the servers of a job.

The format is Grafana's dashboard JSON, schema version 36, which Grafana 9 and later read and migrate. The data source
is a variable, so that a dashboard works wherever it is imported.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
# Panels are side by side, two in a row; Grafana's grid has 24 columns.
_WIDTH, _HEIGHT = 12, 8
# Grafana refuses longer ones.
_UID = 40


class Panel(NamedTuple):
    """A chart over time: its queries with their legends. FABRIC stands for the selector of the fabric."""

    title: str
    unit: str
    queries: tuple[tuple[str, str], ...]


class Dashboard(NamedTuple):
    """A dashboard; `variable` is chosen among the values that this label has in a metric."""

    name: str
    variable: tuple[str, str] | None
    panels: tuple[Panel, ...]


_LINK = "{{device}} {{interface}} {{color}} to {{peer}}"


def _of_servers(counter: str) -> str:
    return f'sum by (server, nic) (rate(ailb_host_{counter}_total{{FABRIC, server=~"$server"}}[$__rate_interval]))'


DASHBOARDS = (
    Dashboard(
        "fabric",
        None,
        (
            Panel(
                "Alerts", "short", (('count by (alertname) (ALERTS{FABRIC, alertstate="firing"})', "{{alertname}}"),)
            ),
            Panel(
                "Sessions up and expected",
                "short",
                (
                    ("sum(ailb_switch:sessions:established{FABRIC})", "up"),
                    ("sum(max by (device) (ailb_switch_expected_sessions{FABRIC}))", "expected"),
                ),
            ),
            Panel("Load of colors (1 is expected)", "none", (("ailb_fabric:color_load:ratio{FABRIC}", "{{color}}"),)),
            Panel("Load of spines (1 is expected)", "none", (("ailb_fabric:spine_load:ratio{FABRIC}", "{{spine}}"),)),
            Panel(
                "Highest load of an uplink by leaf (1 is expected)",
                "none",
                (("topk(10, ailb_leaf:tx_load:max{FABRIC})", "{{device}}"),),
            ),
            Panel(
                "Traffic by color",
                "bps",
                (('sum by (color) (ailb_uplink:tx_bits:rate{FABRIC, role="leaf"})', "{{color}}"),),
            ),
            Panel(
                "Drops and damaged frames",
                "pps",
                (
                    ("topk(10, ailb_uplink:tx_discards:rate{FABRIC} > 0)", f"dropped {_LINK}"),
                    ("topk(10, ailb_uplink:rx_errors:rate{FABRIC} > 0)", f"damaged {_LINK}"),
                ),
            ),
            Panel("Pauses received", "pps", (("topk(10, ailb_uplink:rx_pauses:rate{FABRIC} > 0)", _LINK),)),
        ),
    ),
    Dashboard(
        "color",
        ("color", "ailb_uplink_info"),
        (
            Panel("Sent by leaves", "bps", (('ailb_uplink:tx_bits:rate{FABRIC, role="leaf", color="$color"}', _LINK),)),
            Panel(
                "Received by leaves", "bps", (('ailb_uplink:rx_bits:rate{FABRIC, role="leaf", color="$color"}', _LINK),)
            ),
            Panel(
                "Load of uplinks (1 is expected)",
                "none",
                (('ailb_uplink:tx_load:ratio{FABRIC, color="$color"}', _LINK),),
            ),
            Panel(
                "Received by leaf (1 is expected)",
                "none",
                (('ailb_color:rx_load:ratio{FABRIC, color="$color"}', "{{device}}"),),
            ),
            Panel("Uplinks down", "short", (('ailb_color:links:down{FABRIC, color="$color"}', "{{device}}"),)),
            Panel("On backup", "none", (('ailb_color:moved:ratio{FABRIC, color="$color"}', "{{device}}"),)),
        ),
    ),
    Dashboard(
        "leaf",
        ("device", "ailb_switch_expected_sessions"),
        (
            Panel("Sent", "bps", (('ailb_uplink:tx_bits:rate{FABRIC, device="$device"}', _LINK),)),
            Panel("Received", "bps", (('ailb_uplink:rx_bits:rate{FABRIC, device="$device"}', _LINK),)),
            Panel(
                "Load of uplinks, sent (1 is expected)",
                "none",
                (('ailb_uplink:tx_load:ratio{FABRIC, device="$device"}', _LINK),),
            ),
            Panel(
                "Load of colors, received (1 is expected)",
                "none",
                (('ailb_color:rx_load:ratio{FABRIC, device="$device"}', "{{color}}"),),
            ),
            Panel("Links up", "short", (('ailb_uplink:up:bool{FABRIC, device="$device"}', _LINK),)),
            Panel(
                "Sessions up and expected",
                "short",
                (
                    ('ailb_switch:sessions:established{FABRIC, device="$device"}', "up"),
                    ('max(ailb_switch_expected_sessions{FABRIC, device="$device"})', "expected"),
                ),
            ),
            Panel("Packets dropped", "pps", (('ailb_uplink:tx_discards:rate{FABRIC, device="$device"}', _LINK),)),
            Panel("Pauses received", "pps", (('ailb_uplink:rx_pauses:rate{FABRIC, device="$device"}', _LINK),)),
        ),
    ),
    Dashboard(
        "job",
        ("server", "ailb_host_rdma_tx_bytes_total"),
        (
            Panel("RDMA sent", "Bps", ((_of_servers("rdma_tx_bytes"), "{{server}} {{nic}}"),)),
            Panel("RDMA received", "Bps", ((_of_servers("rdma_rx_bytes"), "{{server}} {{nic}}"),)),
            Panel("Congestion notifications sent", "pps", ((_of_servers("cnp_sent"), "{{server}} {{nic}}"),)),
            Panel("Out of order", "pps", ((_of_servers("out_of_order"), "{{server}} {{nic}}"),)),
            Panel("Pauses sent", "pps", ((_of_servers("tx_pauses"), "{{server}} {{nic}}"),)),
            Panel("Retransmissions by timeout", "pps", ((_of_servers("ack_timeouts"), "{{server}} {{nic}}"),)),
        ),
    ),
)


def dashboards(fabric: str) -> dict[str, bytes]:
    """Return the dashboards of a fabric by file name."""
    return {f"{one.name}.json": _json(_dashboard(one, fabric)) for one in DASHBOARDS}


def _json(body: dict[str, Any]) -> bytes:
    return f"{json.dumps(body, indent=1)}\n".encode()


def _dashboard(one: Dashboard, fabric: str) -> dict[str, Any]:
    variables = [{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}]
    panels = [_panel(panel, number, fabric) for number, panel in enumerate(one.panels)]
    return {
        "uid": _uid(fabric, one.name),
        "title": f"{fabric}: {one.name}",
        "tags": ["ailb-gen", fabric],
        "timezone": "browser",
        "editable": True,
        "schemaVersion": 36,
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": [*variables, *_variables(one, fabric)]},
        "panels": panels,
    }


def _uid(fabric: str, name: str) -> str:
    """Return the id of a dashboard, the same for every run; what is too long is replaced by its digest."""
    uid = f"ailb-{fabric}-{name}"
    return uid if len(uid) <= _UID else f"ailb-{hashlib.sha256(uid.encode()).hexdigest()[: _UID - 5]}"


def _variables(one: Dashboard, fabric: str) -> list[dict[str, Any]]:
    if one.variable is None:
        return []
    label, metric = one.variable
    several = one.name == "job"
    query = f'label_values({metric}{{fabric="{fabric}"}}, {label})'
    return [
        {
            "name": label,
            "type": "query",
            "datasource": _SOURCE,
            "query": query,
            "refresh": 2,
            "sort": 1,
            "multi": several,
            "includeAll": several,
        }
    ]


def _panel(panel: Panel, number: int, fabric: str) -> dict[str, Any]:
    row, column = divmod(number, 24 // _WIDTH)
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": panel.title,
        "datasource": _SOURCE,
        "gridPos": {"h": _HEIGHT, "w": _WIDTH, "x": column * _WIDTH, "y": row * _HEIGHT},
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": [
            {
                "refId": chr(ord("A") + at),
                "datasource": _SOURCE,
                "expr": expr.replace("FABRIC", f'fabric="{fabric}"'),
                "legendFormat": legend,
            }
            for at, (expr, legend) in enumerate(panel.queries)
        ],
    }
