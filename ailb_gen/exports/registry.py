"""The table of all kinds of exports."""

from __future__ import annotations

from ailb_gen.exports import cables, containerlab, gnmic, inventories, prometheus, telegraf
from ailb_gen.exports.kind import Kind, one_file
from ailb_gen.jobs import kubernetes, openmpi, slurm

_PROGRAM = ("limit", "test", "sizes", "repeats")

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
    Kind(
        "hostfile",
        "Open MPI: the servers of a job",
        one_file("hostfile", lambda given: openmpi.hostfile(given.design, given.job)),
        ("limit",),
    ),
    Kind(
        "mpirun",
        "Open MPI: a script that runs nccl-tests",
        one_file("mpirun.sh", lambda given: openmpi.mpirun_script(given.design, given.job)),
        _PROGRAM,
    ),
    Kind(
        "slurm",
        "Slurm: a batch script that runs nccl-tests",
        one_file("job.sh", lambda given: slurm.batch_script(given.design, given.job)),
        _PROGRAM,
    ),
    Kind(
        "slurm-topology",
        "Slurm: topology.conf",
        one_file("topology.conf", lambda given: slurm.topology_conf(given.design, given.job)),
        ("limit",),
    ),
    Kind(
        "kubernetes",
        "Kubernetes: objects that run nccl-tests",
        one_file("job.yaml", lambda given: kubernetes.kubernetes_objects(given.design, given.job)),
        (*_PROGRAM, "image"),
    ),
)
