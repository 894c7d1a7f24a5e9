"""The fabric of a plan or a run as a picture: what is touched, and where something went wrong."""

from __future__ import annotations

from collections.abc import Mapping

from ailb_gen.checks.expected_switches import outline
from ailb_gen.deploy.fabric_model import FabricModel
from ailb_gen.deploy.impact import Impact
from ailb_gen.deploy.planning import HostLook, Look, Plan
from ailb_gen.deploy.report.tables import Ended
from ailb_gen.deploy.report.waves import TouchedLink
from ailb_gen.intent.models import Fabric
from ailb_gen.network.fabric import Cable, End
from ailb_gen.network.topology import Topology
from ailb_gen.picture.build import picture_from
from ailb_gen.picture.model import Overlay, Picture
from ailb_gen.report.html.fabric import fabric_section
from ailb_gen.report.html.page import Section


def picture_of(fabric: Fabric, model: FabricModel) -> Picture:
    """Return the picture of the fabric that is pushed to, with its cables."""
    attachments = tuple(Cable(leaf, End(*seat), "") for seat, leaf in model.attachments.items())
    return picture_from(outline(fabric), Topology(model.roles, model.links, attachments))


def touched_section(picture: Picture, plan: Plan, ended: Mapping[str, Ended]) -> Section:
    """Return the section of the picture: devices that change, and of a run how they ended."""
    touched = {name: _change(look) for name, look in plan.changed.items()} | {
        name: row.outcome for name, row in ended.items()
    }
    marks = {name: {"error": 1} for name, row in ended.items() if row.style == "fail"}
    marks |= {name: {"error": 1} for name in plan.errors}
    marks |= {name: {"warning": 1} for name, look in plan.looks.items() if look.foreign and name not in marks}
    return fabric_section(picture, Overlay(findings=marks, touched=touched), title="Blast radius")


def _change(look: Look | HostLook) -> str:
    """Return what is written at a device: a word or two."""
    if isinstance(look, HostLook):
        return "files"
    added, removed = look.counts
    return f"+{added} \N{MINUS SIGN}{removed}"


def touched_links(picture: Picture, impact: Impact) -> dict[str, tuple[TouchedLink, ...]]:
    """Return, by switch, the links whose sessions its change touches."""
    stripes = {device.name: device.stripe for device in picture.devices}
    at = {(end.device, end.port): link for link in picture.links for end in (link.a, link.b)}
    found = {}
    for name, one in impact.devices.items():
        links = (at.get((name, session.rpartition(".")[0])) for session in one.sessions)
        found[name] = tuple(
            TouchedLink(link.name, link.color, stripes.get(link.a.device, 0)) for link in links if link is not None
        )
    return {name: links for name, links in found.items() if links}
