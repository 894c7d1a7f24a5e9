"""The style sheet of pictures: the same rules inside a file of its own and in a report."""

from __future__ import annotations

from ailb_gen.picture.palette import BACK_DARK, BACK_LIGHT, HUES

# Loads are violet, darker (in dark: lighter) the higher they are; no hue of a fabric color is near. Parts that have
# failed or are out of service are gray: `line`.
LIGHT = {
    "back": BACK_LIGHT, "front": "#1b1f24", "soft": "#57606a", "line": "#8c959f", "frame": "#f6f8fa", "edge": "#d0d7de",
    "leaf": "#eaf2fb", "spine": "#eef0f3", "server": "#ffffff", "service": "#f8efd9", "accent": "#0550ae",
    "error": "#a40e26", "warning": "#7d4e00", "note": "#0550ae", "badge": "#ffffff",
    "load0": "#8c959f", "load1": "#b476ef", "load2": "#a163da",
    "load3": "#7e0f7a", "load4": "#530151", "load5": "#2c0220",
}  # fmt: skip
DARK = {
    "back": BACK_DARK, "front": "#e6edf3", "soft": "#9ea7b3", "line": "#768390", "frame": "#161b22", "edge": "#3d444d",
    "leaf": "#1b2838", "spine": "#262c36", "server": "#0d1117", "service": "#332a14", "accent": "#79b8ff",
    "error": "#ff9b94", "warning": "#f2cc60", "note": "#79b8ff", "badge": "#0d1117",
    "load0": "#77818c", "load1": "#765481", "load2": "#a056b7",
    "load3": "#ca71cd", "load4": "#ebdce5", "load5": "#ffffff",
}  # fmt: skip
LOADS = 6

RULES = """
.ailb-picture { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 11px; }
.ailb-picture .back { fill: var(--pic-back); }
.ailb-picture text { fill: var(--pic-front); }
.ailb-picture .soft { fill: var(--pic-soft); }
.ailb-picture .heading { font-size: 15px; font-weight: 600; }
.ailb-picture .frame { fill: var(--pic-frame); stroke: var(--pic-edge); }
.ailb-picture .box { stroke: var(--pic-line); }
.ailb-picture .leaf > .box { fill: var(--pic-leaf); }
.ailb-picture .spine > .box { fill: var(--pic-spine); }
.ailb-picture .server > .box, .ailb-picture .group > .box { fill: var(--pic-server); }
.ailb-picture .no-gpus > .box { fill: var(--pic-service); }
.ailb-picture .wire { fill: none; stroke: var(--pic-line); }
.ailb-picture .wire:not([stroke-width]) { stroke-width: 1.4; }
.ailb-picture .wide { fill: none; stroke: transparent; stroke-width: 9; pointer-events: stroke; }
.ailb-picture .dot { fill: var(--pic-line); }
.ailb-picture .attachment .wire:not([stroke-width]) { stroke-width: 1; }
.ailb-picture .halo { paint-order: stroke; stroke: var(--pic-back); stroke-width: 3px; stroke-linejoin: round; }
.ailb-picture .letter { font-size: 9px; font-weight: 700; }
.ailb-picture .small, .ailb-picture .value { font-size: 9px; }
.ailb-picture .strong { font-size: 13px; font-weight: 600; }
.ailb-picture .failure { font-weight: 600; }
.ailb-picture .buses .wire { stroke-width: 1.6; }
.ailb-picture .former .wire { stroke: var(--pic-line); stroke-dasharray: none; }
.ailb-picture .down .wire { stroke: var(--pic-line); stroke-dasharray: 7 6; }
.ailb-picture .drained .wire { stroke: var(--pic-line); stroke-dasharray: 1 4; }
.ailb-picture .former .letter, .ailb-picture .down .letter, .ailb-picture .drained .letter { fill: var(--pic-soft); }
.ailb-picture .clear { fill: var(--pic-back); }
.ailb-picture .sign { fill: none; stroke: var(--pic-front); stroke-width: 2.4; }
.ailb-picture .page { fill: var(--pic-back); stroke: var(--pic-front); stroke-width: 1.4; }
.ailb-picture .strong-label { font-weight: 600; }
.ailb-picture .out > .box { fill: var(--pic-back); stroke-dasharray: 5 4; stroke-width: 2; }
.ailb-picture .out > text { fill: var(--pic-soft); }
.ailb-picture .touched > .box { stroke: var(--pic-accent); stroke-width: 2.5; }
.ailb-picture .error path { fill: var(--pic-error); }
.ailb-picture .warning path { fill: var(--pic-warning); }
.ailb-picture .note path { fill: var(--pic-note); }
.ailb-picture .badge text { fill: var(--pic-badge); font-size: 9px; font-weight: 700; text-anchor: middle; }
.ailb-picture .has-findings .wire:not([stroke-width]) { stroke-width: 3; }
.ailb-picture .on-path .wire:not([stroke-width]) { stroke-width: 4; }
.ailb-picture .faded { opacity: .25; }
.ailb-picture [role=button] { cursor: pointer; }
.ailb-picture [role=button]:focus-visible { outline: none; }
.ailb-picture [role=button]:focus-visible > .box, .ailb-picture .selected > .box,
.ailb-picture .group:focus-visible > .frame, .ailb-picture .group:hover > .frame
  { stroke: var(--pic-accent); stroke-width: 3; }
.ailb-picture .link:focus-visible .wire, .ailb-picture .link:hover .wire, .ailb-picture .link.selected .wire
  { stroke-width: 4; }
"""


def picture_css() -> str:
    """Return the rules for all pictures; nothing outside of them is touched."""
    light, dark = _variables(LIGHT, "light"), _variables(DARK, "dark")
    hues = "".join(
        f".ailb-picture .h{number} .wire, .ailb-picture .wire.h{number}"
        f" {{ stroke: var(--pic-h{number}); stroke-dasharray: {hue.dash.replace(' ', ',') or 'none'}; }}\n"
        f".ailb-picture .dot.h{number} {{ fill: var(--pic-h{number}); }}\n"
        f".ailb-picture .h{number} .letter, .ailb-picture .letter.h{number} {{ fill: var(--pic-h{number}); }}\n"
        for number, hue in enumerate(HUES)
    )
    loads = "".join(
        f".ailb-picture .load{number} .wire {{ stroke: var(--pic-load{number}); }}\n" for number in range(LOADS)
    )
    return (
        f".ailb-picture {{ color-scheme: light dark; {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ .ailb-picture {{ {dark} }} }}\n"
        f"{hues}{loads}{RULES.strip()}\n"
    )


def _variables(values: dict[str, str], mode: str) -> str:
    hues = {f"h{number}": getattr(hue, mode) for number, hue in enumerate(HUES)}
    return " ".join(f"--pic-{name}: {value};" for name, value in (values | hues).items())
