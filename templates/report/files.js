"use strict";
/* Files with the lines of findings marked: `ailb.fileBlock(texts, findings, {file, line})` is a block of the panel. */
ailb.fileBlock = (texts, findings, what) => {
  const { make } = ailb;
  const names = Object.keys(texts);
  const marked = (name) => findings.filter((one) => one.file === name);
  const first = names.includes(what.file) ? what.file : names.find((name) => marked(name).length) ?? names[0];
  const choice = make("select", { onchange: () => draw(choice.value) }, ...names.map((name) => make("option", { value: name, selected: name === first }, marked(name).length ? `${name} (${marked(name).length})` : name)));
  const code = make("div", { class: "file", tabindex: 0, role: "region", "aria-label": first });
  const previous = make("button", { type: "button", onclick: () => step(-1) }, "Previous mark");
  const next = make("button", { type: "button", onclick: () => step(1) }, "Next mark");
  const element = make("div", {}, make("div", { class: "tools" }, names.length > 1 ? make("label", {}, "File ", choice) : make("code", {}, first), previous, next), code);
  let marks = [], at = -1;

  function draw(name) {
    const notes = new Map();
    for (const one of marked(name)) notes.set(one.line, [...(notes.get(one.line) ?? []), one]);
    code.setAttribute("aria-label", name);
    const lines = texts[name].split("\n");
    if (lines.at(-1) === "") lines.pop();
    code.replaceChildren(...lines.flatMap((text, n) => line(n + 1, text, notes.get(n + 1))));
    marks = [...code.querySelectorAll(".line.bad, .line.chosen")];
    at = -1;
    previous.hidden = next.hidden = marks.length < 1;
  }

  function line(number, text, found) {
    const chosen = choice.value === what.file && number === what.line;
    // What follows from something else is marked less than what is wrong here.
    const own = found?.filter((one) => !one.cause) ?? [];
    const kind = own.length ? own[0].severity : "follows-only";
    const classes = ["line", found ? "bad" : "", found ? kind : "", chosen ? "chosen" : "", /^\s*(##|#|\/\*)/.test(text) ? "comment" : ""].filter(Boolean).join(" ");
    const row = make("div", { class: classes, "data-line": number }, make("span", { class: "number" }, String(number)), make("code", {}, text || " "));
    if (!found) return [row];
    const first = [...own.slice(0, 5), ...found.filter((one) => one.cause).slice(0, own.length ? 0 : 2)];
    const shown = first.map((one) => make("p", {}, make("code", {}, one.id), ` ${one.part ? `${one.part} ` : ""}${one.message}`, one.cause ? make("span", { class: "soft" }, ` (follows from ${one.cause.id} ${one.cause.device})`) : null));
    if (found.length > first.length) shown.push(make("p", { class: "soft" }, `and ${found.length - first.length} more on this line`));
    return [row, make("div", { class: `remark ${kind}` }, ...shown)];
  }

  function step(by) {
    at = ((at < 0 && by < 0 ? 0 : at) + by + marks.length) % marks.length;
    marks[at].scrollIntoView({ block: "center" });
    marks.forEach((mark, n) => mark.classList.toggle("current", n === at));
  }

  choice.value = first;
  draw(first);
  return {
    title: "File", element, chosen: Boolean(what.file),
    shown() {
      const wanted = code.querySelector(".line.chosen") ?? marks[0];
      if (wanted) { wanted.scrollIntoView({ block: "center" }); at = marks.indexOf(wanted); }
    },
  };
};
