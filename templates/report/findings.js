"use strict";
/* Findings: search and filters, "more like it", consequences, and what a click on a device or a place selects. */
(() => {
  const section = document.getElementById("findings");
  const template = document.getElementById("finding-template");
  if (!template) return;
  const CHECK = 0, DEVICE = 1, PART = 2, MESSAGE = 3, FILE = 4, LINE = 5, EXPECTED = 6, FOUND = 7, CAUSE = 8, LIKE = 9, NEXT = 10;
  const { make } = ailb;
  const STEP = 10, MORE = 100;
  const count = document.getElementById("findings-count");
  const form = document.getElementById("filters");
  const inputs = ["search", "severity", "family"].map((name) => document.getElementById(`findings-${name}`));
  const groups = [...section.querySelectorAll("article.group")];
  let all = null;

  /* All findings, with what is looked for in small letters and the consequences of every headline. */
  async function load() {
    if (all) return all;
    const data = await ailb.data("findings");
    const follow = new Map();
    const texts = data.rows.map((row, n) => {
      if (row[CAUSE] >= 0) follow.set(row[CAUSE], [...(follow.get(row[CAUSE]) ?? []), n]);
      const [id, severity, family] = data.checks[row[CHECK]];
      const words = [id, severity, family, data.devices[row[DEVICE]], row[PART], row[MESSAGE], row[EXPECTED], row[FOUND]];
      return [...words, data.files[row[FILE]] ?? ""].join(" ").toLowerCase();
    });
    all = { ...data, follow, texts };
    return all;
  }

  function place(row) { return row[FILE] < 0 ? "" : `${all.files[row[FILE]]}:${row[LINE]}`; }

  /* One finding as an element, from the same template as those that are in the page from the start. */
  function item(n, check, like = []) {
    const row = all.rows[n];
    const element = template.content.firstElementChild.cloneNode(true);
    const fill = (name, text) => {
      const field = element.querySelector(`[data-field=${name}]`);
      field.textContent = text;
      const around = field.closest("dl div, .where, .above, .follows");
      if (around) around.hidden = !text;
    };
    element.dataset.finding = n;
    fill("device", all.devices[row[DEVICE]]);
    fill("part", row[PART]);
    fill("message", (check ? `${all.checks[row[CHECK]][0]} ` : "") + row[MESSAGE]);
    fill("expected", row[EXPECTED]);
    fill("found", row[FOUND]);
    element.querySelector(".pair").hidden = !(row[EXPECTED] || row[FOUND]);
    fill("place", place(row));
    fill("follows", row[CAUSE] < 0 && all.follow.has(n) ? row[NEXT] : "");
    fill("above", row[CAUSE] < 0 && !all.follow.has(n) ? row[NEXT] : "");
    element.like = like;
    element.querySelector(".like").hidden = like.length === 0;
    element.querySelector(".like button").textContent = `and ${like.length.toLocaleString("en")} more like it`;
    return element;
  }

  /* Whether a headline, or something that follows from it, has all words and is of the chosen kind. */
  function matches(words, severity, family) {
    const fits = (n) => {
      const [, own, kind] = all.checks[all.rows[n][CHECK]];
      return (!severity || own === severity) && (!family || kind === family) && words.every((word) => all.texts[n].includes(word));
    };
    return (n) => fits(n) || (all.follow.get(n) ?? []).some(fits);
  }

  /* Kinds of a check's headlines that match: of each what stands for it, and those like it. */
  function kinds(id, match) {
    const found = new Map();
    all.rows.forEach((row, n) => {
      if (row[CAUSE] >= 0 || all.checks[row[CHECK]][0] !== id || !match(n)) return;
      const kind = row[LIKE] < 0 ? n : row[LIKE];
      if (found.has(kind)) found.get(kind).push(n); else found.set(kind, [n]);
    });
    return [...found.values()];
  }

  function show(group, rows, upTo) {
    const list = group.querySelector("ol.items");
    const from = list.children.length;
    list.append(...rows.slice(from, upTo).map(([n, ...like]) => item(n, false, like)));
    group.rows = rows;
    const left = rows.length - list.children.length;
    const line = group.querySelector(".more");
    line.hidden = left <= 0;
    line.firstElementChild.textContent = `${left.toLocaleString("en")} more of ${group.dataset.check}`;
    return list.children[from];
  }

  /* Unfolds what is like a finding, a piece at a time; what comes next is after the last. */
  function showAlike(element, button) {
    const like = element.like ?? kinds(element.closest("article").dataset.check, () => true).find(([n]) => n === Number(element.dataset.finding)).slice(1);
    const line = button.parentElement;
    const list = line.previousElementSibling.matches("ol.alike") ? line.previousElementSibling : make("ol", { class: "alike" });
    line.before(list);
    const from = list.children.length;
    list.append(...like.slice(from, from + MORE).map((n) => item(n)));
    const left = like.length - list.children.length;
    line.hidden = left <= 0;
    button.textContent = `and ${left.toLocaleString("en")} more like it`;
    button.setAttribute("aria-expanded", "true");
    list.children[from]?.querySelector("button").focus();
  }

  async function filter() {
    await load();
    const [text, severity, family] = inputs.map((input) => input.value.trim());
    const match = matches(ailb.words(text), severity, family);
    let found = 0;
    for (const group of groups) {
      const rows = kinds(group.dataset.check, match);
      const total = rows.reduce((sum, row) => sum + row.length, 0);
      group.hidden = rows.length === 0;
      group.querySelector("ol.items").replaceChildren();
      show(group, rows, STEP);
      group.querySelector(".count").textContent = total.toLocaleString("en");
      found += total;
    }
    const any = text || severity || family;
    count.textContent = any ? `${found.toLocaleString("en")} ${found === 1 ? "cause matches" : "causes match"}` : "";
  }

  async function clicked(event) {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.parentElement.matches(".more")) {
      const group = button.closest("article");
      await load();
      const rows = group.rows ?? kinds(group.dataset.check, () => true);
      const first = show(group, rows, group.querySelector("ol.items").children.length + MORE);
      first?.querySelector("button").focus();
      return;
    }
    const element = button.closest(".finding");
    if (!element) return;
    await load();
    if (button.parentElement.matches(".like")) { showAlike(element, button); return; }
    const row = all.rows[element.dataset.finding];
    const device = all.devices[row[DEVICE]];
    if (button.matches(".place")) ailb.select({ device, file: all.files[row[FILE]], line: row[LINE] });
    else ailb.select({ device, part: row[PART] });
  }

  async function unfolded(event) {
    const details = event.target;
    if (!details.matches?.("details.follows") || !details.open) return;
    const list = details.querySelector("ol");
    if (list.children.length) return;
    await load();
    const rows = all.follow.get(Number(details.closest(".finding").dataset.finding)) ?? [];
    const add = (upTo) => {
      list.querySelector(".rest")?.remove();
      list.append(...rows.slice(list.children.length, upTo).map((n) => item(n, true)));
      const left = rows.length - list.children.length;
      if (left > 0) {
        const button = make("button", { type: "button", onclick: () => add(list.children.length - 1 + MORE) }, `and ${left.toLocaleString("en")} more`);
        list.append(make("li", { class: "rest" }, button));
      }
    };
    add(50);
  }

  let waiting = 0;
  section.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 80); });
  form.addEventListener("reset", () => setTimeout(filter));
  form.addEventListener("submit", (event) => event.preventDefault());
  section.addEventListener("click", clicked);
  section.addEventListener("toggle", unfolded, true);

  /* For other sections: the findings of a device, and of a file. */
  ailb.findings = {
    async of(device, files = []) {
      if (!document.getElementById("data-findings")) return [];
      await load();
      const known = new Set(files);
      return all.rows.flatMap((row, n) => all.devices[row[DEVICE]] === device || known.has(all.files[row[FILE]])
        ? [{ number: n, id: all.checks[row[CHECK]][0], severity: all.checks[row[CHECK]][1], device: all.devices[row[DEVICE]], part: row[PART], message: row[MESSAGE], file: all.files[row[FILE]] ?? "", line: row[LINE], expected: row[EXPECTED], found: row[FOUND], cause: row[CAUSE] < 0 ? null : { device: all.devices[all.rows[row[CAUSE]][DEVICE]], id: all.checks[all.rows[row[CAUSE]][CHECK]][0], message: all.rows[row[CAUSE]][MESSAGE] } }]
        : []);
    },
  };
})();
