"""The table of all kinds of exports."""

from __future__ import annotations

from collections.abc import Callable

from ailb_gen.design.model import Design
from ailb_gen.exports import (
    bom,
    cable_labels,
    cables,
    containerlab,
    dhcp,
    gnmic,
    inventories,
    label_pages,
    nodes,
    prometheus,
    rack_list,
    rack_pages,
    telegraf,
    ztp,
)
from ailb_gen.exports.kind import ExportInput, Files, Kind, one_file
from ailb_gen.jobs import kubernetes, openmpi, slurm
from ailb_gen.jobs.command import JobRequest

_LIMIT = ("limit",)
_PROGRAM = (*_LIMIT, "test", "sizes", "repeats")
_RACKS = ("racks", "lengths", "media")
_BILL = (*_RACKS, "spares")


def _of_job(name: str, text: Callable[[Design, JobRequest], str]) -> Callable[[ExportInput], Files]:
    """Return the function of an export of one text file, which needs a job."""
    return one_file(name, lambda given: text(given.design, given.job))


KINDS = (
    Kind("topology", "devices, links and colors, as JSON", one_file("topology.json", cables.topology)),
    Kind("cabling", "every cable with both ends, as CSV", one_file("cabling.csv", cables.cabling)),
    Kind("netbox-cables", "NetBox's import form for cables", one_file("netbox-cables.csv", cables.netbox_cables)),
    # Inventories, labs and monitoring.
    Kind("ansible", "Ansible: inventory of switches and servers", one_file("inventory.yaml", inventories.ansible)),
    Kind("nornir", "Nornir: files of SimpleInventory", inventories.nornir),
    Kind("containerlab", "containerlab: vJunosEvolved switches, Linux servers", containerlab.lab),
    Kind("gnmic", "gnmic: telemetry of all uplinks, by color", one_file("gnmic.yaml", gnmic.config)),
    Kind("telegraf", "Telegraf: telemetry of switches, labels of uplinks", telegraf.config),
    Kind("prometheus", "Prometheus: targets with labels, colors of uplinks", prometheus.config),
    # The start of a job.
    Kind("hostfile", "Open MPI: the servers of a job", _of_job("hostfile", openmpi.hostfile), _LIMIT),
    Kind("mpirun", "Open MPI: a script that runs nccl-tests", _of_job("mpirun.sh", openmpi.mpirun_script), _PROGRAM),
    Kind("slurm", "Slurm: a batch script that runs nccl-tests", _of_job("job.sh", slurm.batch_script), _PROGRAM),
    Kind("slurm-topology", "Slurm: topology.conf", _of_job("topology.conf", slurm.topology_conf), _LIMIT),
    Kind("slurm-block", "Slurm: topology.conf of topology/block", _of_job("topology.conf", slurm.block_conf), _LIMIT),
    Kind(
        "slurm-yaml",
        "Slurm 25.05: topology.yaml with tree and blocks",
        _of_job("topology.yaml", slurm.topology_yaml),
        _LIMIT,
    ),
    Kind(
        "kubernetes",
        "Kubernetes: objects that run nccl-tests",
        _of_job("job.yaml", kubernetes.kubernetes_objects),
        (*_PROGRAM, "image"),
    ),
    Kind(
        "kubernetes-nodes",
        "Kubernetes: labels of nodes, for schedulers",
        one_file("nodes.json", nodes.node_labels),
        _LIMIT,
    ),
    Kind(
        "network-operator",
        "NVIDIA Network Operator: RDMA devices, NIC settings",
        one_file("network-operator.yaml", nodes.network_operator),
        (*_LIMIT, "nic_type"),
    ),
    # The people in the data center.
    Kind("cable-labels", "both ends of every cable, as CSV", one_file("cable-labels.csv", cable_labels.table), _RACKS),
    Kind("cable-labels-pdf", "labels of all cables to print", label_pages.pages, (*_RACKS, "sheet", "qr", "font")),
    Kind("racks", "devices and ports in order of work, as CSV", one_file("racks.csv", rack_list.table), _RACKS),
    Kind("racks-pdf", "devices and ports in order of work, to print", rack_pages.pages, (*_RACKS, "font")),
    Kind("bom", "bill of materials, as CSV", one_file("bom.csv", bom.bom_csv), _BILL),
    Kind("bom-markdown", "bill of materials, as Markdown", one_file("bom.md", bom.bom_markdown), _BILL),
    Kind("bom-json", "bill of materials, as JSON", one_file("bom.json", bom.bom_json), _BILL),
    # The boot of devices.
    Kind("ztp", "Junos ZTP: day-0 configurations", ztp.day0, ("ssh_key", "ztp_user")),
    Kind("dhcp-kea4", "Kea: DHCP reservations", one_file("kea-dhcp4.conf", dhcp.kea4), ("ztp_url",)),
    Kind("dhcp-kea6", "Kea: DHCPv6 reservations", one_file("kea-dhcp6.conf", dhcp.kea6), ("ztp_url", "prefix6")),
    Kind("dhcp-isc", "ISC DHCP: reservations", one_file("dhcpd.conf", dhcp.isc), ("ztp_url",)),
)
