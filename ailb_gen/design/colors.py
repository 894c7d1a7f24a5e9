"""Colors: which uplink carries which, and what backs it up."""

from collections import Counter

from ailb_gen.design.model import Color
from ailb_gen.design.problems import Problems
from ailb_gen.intent.models import DEFAULT_COLORS, Colors, Fabric
from ailb_gen.wording import did_you_mean
from ailb_gen.yamlio import Path

ALL_COLORS = "all-colors"


def default_names(count: int) -> tuple[str, ...]:
    """Return the names of so many colors where the intent gives none."""
    return (*DEFAULT_COLORS, *(f"color{n}" for n in range(len(DEFAULT_COLORS) + 1, count + 1)))[:count]


def _names(plan: Colors, uplinks: int, problems: Problems) -> tuple[str, ...]:
    if plan.names:
        names = plan.names
        if plan.count not in (None, len(names)):
            reason = f"{plan.count} colors are required, {len(names)} names are given"
            problems.error("conflict", ("colors", "count"), reason)
        lower = [name.lower() for name in names]
        for name in sorted({name for name in lower if lower.count(name) > 1}):
            problems.error("duplicate-color", ("colors", "names"), f"the color {name!r} is named twice")
    else:
        names = default_names(plan.count or uplinks)
    return names


def _backups(names: tuple[str, ...], plan: Colors, problems: Problems) -> dict[str, str]:
    """Return what `backup-color` says for every color.

    A list is handed out in turn, because the statement takes one color: so every backup gets an even share.
    """
    where: Path = ("colors", "backup")
    if isinstance(plan.backup, str):
        word = ALL_COLORS if plan.backup == "all" and len(names) > 1 else ""
        return dict.fromkeys(names, word)
    given = list(plan.backup) + (list(plan.backup.values()) if isinstance(plan.backup, dict) else [])
    unknown = [name for name in dict.fromkeys(given) if name not in names]
    for name in unknown:
        problems.error("unknown-color", where, f"no color is called {name!r}", did_you_mean(name, names))
    if isinstance(plan.backup, dict):
        for name in (name for name, backup in plan.backup.items() if name == backup):
            problems.error("conflict", (*where, name), "a color cannot back up itself")
        return {name: plan.backup.get(name, "") for name in names}
    result = {}
    for number, name in enumerate(names):
        others = [backup for backup in plan.backup if backup != name]
        result[name] = others[number % len(others)] if others else ""
    return result


def _check_step(names: tuple[str, ...], fabric: Fabric, problems: Problems) -> bool:
    """Note a step with which some colors have more links than others."""
    step = step_of(fabric)
    counts = uplinks_by_color(len(names), step, len(fabric.spines), fabric.links_per_spine)
    fewest, most = min(counts), max(counts)
    if fewest == most:
        return True
    reason = f"with a step of {step} the {len(names)} colors get from {fewest} to {most} of a leaf's uplinks each"
    problems.error("uneven-colors", ("colors", "step"), reason, "leave it out, or use the original number of spines")
    return False


def _check_places(names: tuple[str, ...], backups: dict[str, str], fabric: Fabric, problems: Problems) -> None:
    """Note colors whose backups are on their own spine alone: a spine sends its active route, in one color."""
    spines, links = len(fabric.spines), fabric.links_per_spine
    places: dict[str, set[int]] = {name: set() for name in names}
    for number in range(spines * links):
        link, spine = divmod(number, spines)
        places[names[(link * step_of(fabric) + spine) % len(names)]].add(spine)
    parallel = spines * links > len(names)
    for name, backup in backups.items():
        others = [other for other in names if other != name and backup in (ALL_COLORS, other)]
        elsewhere = set().union(*(places[other] for other in others)) - places[name]
        if not others or elsewhere or len(places[name]) > 1 or (parallel and spines == 1):
            continue
        what = "all other colors are" if backup == ALL_COLORS else f"its backup {backup} is"
        reason = (
            f"{what} on the same spine as {name}: the spine passes on one active route per prefix, in one color, "
            f"so that the prefix is lost with {'the spine' if parallel else 'a single link'}"
        )
        hint = "name a color of another spine" if spines > 1 else f"with one spine give its {links} links one color"
        note = problems.warning if parallel else problems.error
        note("backup-same-spine", ("colors", "backup") if spines > 1 else ("links_per_spine",), reason, hint)


def colors(fabric: Fabric, problems: Problems) -> tuple[Color, ...]:
    """Return the colors of the fabric; notes problems when they do not divide the uplinks evenly."""
    plan = fabric.colors or Colors()
    uplinks = len(fabric.spines) * fabric.links_per_spine
    names = _names(plan, uplinks, problems)
    if len(names) > uplinks or uplinks % len(names):
        links = f"{len(fabric.spines)} spines x {fabric.links_per_spine} links"
        reason = f"{len(names)} colors do not divide the {uplinks} uplinks of a leaf ({links}) evenly"
        fits = [n for n in range(1, uplinks + 1) if uplinks % n == 0]
        problems.error("uneven-colors", ("colors",), reason, f"possible: {', '.join(map(str, fits[-8:]))}")
    backups = _backups(names, plan, problems)
    if not fabric.aigp and any(backups.values()):
        reason = "without AIGP a prefix's own color is not preferred over its backups: no pinning"
        problems.error("aigp-off", ("aigp",), reason, "leave aigp on, or set colors.backup: none")
    if names and uplinks % len(names) == 0 and _check_step(names, fabric, problems):
        _check_places(names, backups, fabric, problems)
    return tuple(Color(n, name, f"color:0:{n}", backups[name]) for n, name in enumerate(names, 1))


def step_of(fabric: Fabric) -> int:
    """Return by how many colors the next link to a spine is further on."""
    return (fabric.colors.step if fabric.colors else None) or len(fabric.spines)


def uplinks_by_color(count: int, step: int, spines: int, links: int) -> tuple[int, ...]:
    """Return how many of a leaf's uplinks get each of `count` colors."""
    counts = Counter((link * step + spine) % count for link in range(links) for spine in range(spines))
    return tuple(counts[number] for number in range(count))


def color_of(colors: tuple[Color, ...], step: int, spine: int, link: int) -> Color:
    """Return the color of a leaf's link `link` to spine `spine`, both counted from 0.

    Links are counted plane by plane, `step` colors apart: the first link to every spine, then the second. So spine k
    keeps color ((k-1) mod colors)+1 when links are added, and with as many colors as uplinks every link has its own.
    """
    return colors[(link * step + spine) % len(colors)]
