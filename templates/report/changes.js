"use strict";
/* Changes: search, and the rows of large groups when they are first opened. */
(() => {
  const section = document.getElementById("changes");
  const form = document.getElementById("changes-filter");
  if (!form) return;
  const groups = [...section.querySelectorAll("details.change")];
  const STYLES = { " ": "same", "+": "added", "-": "removed", "~": "replaced", "<": "away", ">": "here", "…": "hidden" };
  const SIGNS = { " ": "", "+": "+", "-": "−", "~": "~", "<": "↕", ">": "↕", "…": "⋯" };
  const INDENT = "    ";

  function common(one, other) {
    let at = 0;
    while (at < one.length && at < other.length && one[at] === other[at]) at++;
    return at;
  }

  /* The two sides of a replaced statement: the words in the middle differ, unless they are secrets. */
  function marked(left, right) {
    if (left === right) return [[left, "", ""], [right, "", ""]];
    const ours = left.split(" "), theirs = right.split(" ");
    const front = common(ours, theirs);
    const back = common(ours.slice(front).reverse(), theirs.slice(front).reverse());
    return [ours, theirs].map((words) => {
      const end = words.length - back;
      const middle = words.slice(front, end).join(" ");
      return [words.slice(0, front).join(" ") + (front ? " " : ""), middle, (back ? " " : "") + words.slice(end).join(" ")];
    });
  }

  function cell([before, middle, after]) {
    return ailb.make("td", {}, before, middle ? ailb.make("b", {}, middle) : null, after);
  }

  function row(kind, depth, left, right) {
    const sign = ailb.make("td", { class: "sign" }, SIGNS[kind]);
    if (kind === "…") {
      const note = `${left} statement${left === "1" ? "" : "s"} unchanged`;
      return ailb.make("tr", { class: "hidden" }, sign, ailb.make("td", { colspan: 2 }, note));
    }
    const texts = [left, right].map((text) => (text ? INDENT.repeat(depth) + text : ""));
    const parts = kind === "~" ? marked(...texts) : texts.map((text) => (kind === " " ? [text, "", ""] : ["", text, ""]));
    return ailb.make("tr", { class: STYLES[kind] }, sign, ...parts.map(cell));
  }

  async function draw(group) {
    if (!("pending" in group.dataset)) return;
    delete group.dataset.pending;
    const data = await ailb.data("changes");
    const [flat] = data.groups[group.dataset.number];
    const rows = [];
    for (let at = 0; at < flat.length; at += 4) {
      rows.push(row(flat[at], flat[at + 1], data.texts[flat[at + 2]], data.texts[flat[at + 3]]));
    }
    group.querySelector("table.sides tbody").replaceChildren(...rows);
  }

  for (const group of groups) group.addEventListener("toggle", () => group.open && draw(group));

  document.getElementById("changes-open").addEventListener("click", async () => {
    const shown = groups.filter((group) => !group.hidden);
    for (const group of shown) {
      await draw(group);
      group.open = true;
    }
  });

  /* What is looked for is a device's name, or a text of any of its rows. */
  let sought = null;
  async function texts() {
    if (sought) return sought;
    const data = await ailb.data("changes");
    const lower = data.texts.map((text) => text.toLowerCase());
    sought = data.groups.map(([flat, names]) => {
      const used = new Set();
      for (let at = 0; at < flat.length; at += 4) used.add(flat[at + 2]).add(flat[at + 3]);
      return [...names.map((name) => name.toLowerCase()), ...[...used].map((number) => lower[number])].join("\n");
    });
    return sought;
  }

  let latest = 0;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", async () => {
    const turn = ++latest;
    const words = ailb.words(form.elements.words.value);
    const found = words.length ? await texts() : null;
    if (turn !== latest) return;
    let count = 0;
    groups.forEach((group, at) => {
      group.hidden = found !== null && !words.every((word) => found[at].includes(word));
      count += !group.hidden;
    });
    form.querySelector("output").textContent = found ? `${count} of ${groups.length} groups match` : "";
  });

  /* In the panel a device's change is shown in one column: what goes above what comes. */
  function lines(kind, depth, left, right) {
    if (kind === "…") return [["hidden", SIGNS[kind], `${left} more`]];
    const indent = INDENT.repeat(depth);
    if (kind === "~") return [["removed", SIGNS["-"], indent + left], ["added", SIGNS["+"], indent + right]];
    return [[STYLES[kind], SIGNS[kind], indent + (left || right)]];
  }

  ailb.panel.provide(async ({ device }) => {
    if (!device) return null;
    const data = await ailb.data("changes");
    const number = data.groups.findIndex(([, names]) => names.includes(device));
    if (number < 0 || !data.groups[number][0].length) return null;
    const [flat, names] = data.groups[number];
    const rows = [];
    for (let at = 0; at < flat.length; at += 4) {
      for (const [style, sign, text] of lines(flat[at], flat[at + 1], data.texts[flat[at + 2]], data.texts[flat[at + 3]])) {
        rows.push(ailb.make("tr", { class: style }, ailb.make("td", { class: "sign" }, sign), ailb.make("td", {}, text)));
      }
    }
    const table = ailb.make("table", { class: "sides column" }, ailb.make("tbody", {}, ...rows));
    const note = names.length > 1 && names[0] !== device ? ailb.make("p", { class: "note" }, `Same change as on ${names[0]}; the context is that of ${names[0]}.`) : "";
    return { title: device, about: "", blocks: [{ title: "Changes", element: ailb.make("div", {}, note, table) }] };
  });
})();
