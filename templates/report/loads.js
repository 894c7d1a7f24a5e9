"use strict";
/* Heat map of loads: leaves by spines, stripes that unfold; and the load of a link in the panel. */
(() => {
  const form = document.getElementById("loads-form");
  if (!form) return;
  const { make } = ailb;
  const map = document.getElementById("loads-map"), detail = document.getElementById("loads-detail");
  const color = document.getElementById("loads-color"), what = document.getElementById("loads-what");
  /* So many leaves are shown each; more are folded into their stripes. */
  const LEAVES = 32, COLUMNS = 12, LISTED = 16;
  const UNCOLORED = "uncolored";
  const STEPS = [[0.001, "0"], [0.5, "≤ 0.50"], [0.995, "< 1.00"], [1.005, "1.00"], [1.5, "≤ 1.50"], [2, "≤ 2.00"], [Infinity, "> 2.00"]];
  /* Where the hues of the picture begin. */
  const PICTURE = [0, 0.5, 1, 1.5, 2];
  const stepOf = (load) => STEPS.findIndex(([most]) => load <= most);
  const natural = new Intl.Collator("en", { numeric: true });
  const opened = new Set();
  let ready = null;

  function open() {
    ready ??= Promise.all([ailb.data("loads"), ailb.data("paths")]).then(([loads, tables]) => {
      const { devices, texts } = tables;
      const links = tables.sessions.map(([a, aPort, , aColor, b, bPort], number) => ({
        number, a, b, color: texts[aColor] || UNCOLORED, name: `${devices[a]}:${texts[aPort]} - ${devices[b]}:${texts[bPort]}`,
      }));
      const cells = new Map();
      for (const link of links) {
        const key = `${link.a} ${link.b}`;
        if (!cells.has(key)) cells.set(key, []);
        cells.get(key).push(link);
      }
      return { loads, devices, links, cells, byName: new Map(links.map((link) => [link.name, link])) };
    });
    return ready;
  }

  /* Of a link: the load of both directions, the first end's first, and the failure that causes it, empty for none. */
  function loadOf({ loads, links, devices }, link, kind) {
    const both = [0, 1].map((way) => loads[kind][2 * link.number + way] / loads.unit);
    const cause = loads.cause[2 * link.number + (both[1] > both[0] ? 1 : 0)] ?? -1;
    const name = kind === "steady" || cause < 0 ? "" : cause < links.length ? links[cause].name : devices[loads.spines[cause - links.length]];
    return { both, most: Math.max(...both), cause: name };
  }

  const kind = () => what?.value ?? "steady";
  const shown = (links) => links.filter((link) => !color.value || link.color === color.value);

  async function draw(keep = null) {
    const page = await open();
    const out = (role) => (color.value ? [] : page.loads.out.filter((one) => one.role === role));
    const spines = [...new Set(shown(page.links).map((link) => link.b))].map((spine) => ({ spine, name: page.devices[spine] }));
    const columns = [...spines, ...out("spine")].sort((one, other) => natural.compare(one.name, other.name));
    const folded = page.loads.groups.reduce((count, [, leaves]) => count + leaves.length, 0) > LEAVES;
    const rows = page.loads.groups.flatMap(([name, leaves]) => {
      const single = leaves.map((leaf) => ({ name: page.devices[leaf], leaves: [leaf], member: folded }));
      const every = [...single, ...out("leaf").filter((one) => one.group === name)].sort((one, other) => natural.compare(one.name, other.name));
      if (!folded) return every;
      return [{ name, leaves, fold: true }, ...(opened.has(name) ? every : [])];
    });
    const table = make("table", { class: `loads-map${columns.length > COLUMNS ? " many" : ""}`, role: "grid", "aria-label": "Loads, leaves by spines" },
      make("thead", {}, make("tr", {}, make("td"), ...columns.map((one) => make("th", { scope: "col" }, ...broken(titled(one)))))),
      make("tbody", {}, ...rows.map((row) => line(page, row, columns))));
    map.replaceChildren(table);
    const first = (keep && table.querySelector(`[data-at="${CSS.escape(keep)}"]`)) || table.querySelector("tbody td, tbody button");
    for (const each of table.querySelectorAll("tbody td, tbody button")) each.tabIndex = each === first ? 0 : -1;
    if (keep) first?.focus();
    const legend = STEPS.map(([, text], step) => make("li", {}, make("span", { class: `l${step}` }), text));
    document.getElementById("loads-legend").replaceChildren(...legend);
  }

  /* A device without sessions has its state behind its name. */
  const titled = ({ name, state }) => (state ? `${name} (${state})` : name);

  /* A long name may break after its dots. */
  const broken = (name) => name.split(/(?<=\.)/).flatMap((part) => [make("wbr"), part]);

  function line(page, row, columns) {
    const header = row.fold
      ? make("button", { type: "button", class: "fold", "aria-expanded": String(opened.has(row.name)), "data-at": row.name, onclick: () => fold(row.name) },
        `${opened.has(row.name) ? "▾" : "▸"} ${row.name}`)
      : titled(row);
    return make("tr", { class: row.member ? "member" : null }, make("th", { scope: "row" }, header),
      ...columns.map((column) => cell(page, row, column)));
  }

  function cell(page, row, { spine, name }) {
    const links = shown((row.leaves ?? []).flatMap((leaf) => page.cells.get(`${leaf} ${spine}`) ?? []));
    const at = `${row.name}|${name}`;
    if (!links.length) return make("td", { class: "none", "data-at": at }, "–");
    const most = Math.max(...links.map((link) => loadOf(page, link, kind()).most));
    const found = make("td", { class: `l${stepOf(most)}`, "data-at": at }, most.toFixed(2));
    found.addEventListener("click", () => pick(page, row, spine, links, found));
    return found;
  }

  function fold(name) {
    if (!opened.delete(name)) opened.add(name);
    draw(name);
  }

  /* The links of a cell; a single one is selected in the whole page. */
  function pick(page, row, spine, links, found) {
    for (const each of map.querySelectorAll("[tabindex='0']")) each.tabIndex = -1;
    found.tabIndex = 0;
    const rows = links.map((link) => [link, loadOf(page, link, kind())]).sort((one, other) => other[1].most - one[1].most);
    const lines = rows.slice(0, LISTED).map(([link, load]) => make("p", {}, ailb.linkButton(link.name), ` ${link.color}: ${load.most.toFixed(2)}`,
      load.cause ? ` (failure: ${load.cause})` : ""));
    if (rows.length > LISTED) lines.push(make("p", {}, `and ${rows.length - LISTED} more`));
    detail.replaceChildren(make("p", {}, make("strong", {}, `${row.name} to ${page.devices[spine]}`)), ...lines);
    if (links.length === 1) ailb.select({ link: links[0].name });
  }

  /* Arrows move in the grid; Enter and Space pick. */
  map.addEventListener("keydown", (event) => {
    const by = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    const here = document.activeElement.closest("td, th");
    if (!here || !map.contains(here)) return;
    if (!by) {
      if ((event.key === "Enter" || event.key === " ") && here.localName === "td") { event.preventDefault(); here.click(); }
      return;
    }
    const rows = [...map.querySelectorAll("tbody tr")];
    const row = rows[rows.indexOf(here.parentElement) + by[0]];
    const next = row?.children[[...here.parentElement.children].indexOf(here) + by[1]];
    const target = next?.localName === "th" ? next.querySelector("button") : next;
    if (!target) return;
    event.preventDefault();
    for (const each of map.querySelectorAll("[tabindex='0']")) each.tabIndex = -1;
    target.tabIndex = 0;
    target.focus();
  });

  form.addEventListener("change", () => { draw(); paint(); });

  /* In the picture of the fabric: hue and width of every link by its load, of several links the highest. */
  const painted = document.getElementById("loads-picture");
  let picture = null;
  async function paint() {
    if (!picture) return;
    const page = await open();
    if (painted.checked) await ailb.ready?.();
    for (const element of picture.querySelectorAll("[data-link],[data-bundle]")) {
      const names = element.dataset.link ? [element.dataset.link] : painted.checked ? ailb.bundles?.(element.dataset.bundle) ?? [] : [];
      const loads = names.map((name) => page.byName.get(name)).filter(Boolean).map((link) => loadOf(page, link, kind()).most);
      const most = painted.checked && loads.length ? Math.max(...loads) : null;
      for (let step = 0; step <= PICTURE.length; step += 1) element.classList.toggle(`load${step}`, most !== null && step === PICTURE.filter((least) => most > least + 0.0005).length);
      for (const wire of element.querySelectorAll(".wire")) wire.style.strokeWidth = most === null ? "" : String(1 + 2 * Math.min(most, 2));
      const title = element.querySelector("title");
      if (!title) continue;
      title.dataset.text ??= title.textContent;
      title.textContent = most === null ? title.dataset.text : `${title.dataset.text}, load ${most.toFixed(2)}`;
      element.setAttribute("aria-label", title.textContent);
    }
  }

  /* In the panel of a link: both directions, and the way to paths without it. */
  ailb.panel?.provide(async ({ link }) => {
    if (!link) return null;
    const page = await open();
    const found = page.byName.get(link);
    if (!found) return null;
    const rows = ["steady", ...(page.loads.worst.length ? ["worst"] : [])].map((each) => {
      const load = loadOf(page, found, each);
      return make("tr", {}, make("th", { scope: "row" }, each === "steady" ? "without failures" : `worst case${load.cause ? ` (failure: ${load.cause})` : ""}`),
        ...load.both.map((one) => make("td", {}, one.toFixed(2))));
    });
    const element = make("div", {}, make("table", {},
      make("thead", {}, make("tr", {}, make("td"), make("th", { scope: "col" }, `from ${page.devices[found.a]}`), make("th", { scope: "col" }, `from ${page.devices[found.b]}`))),
      make("tbody", {}, ...rows)),
    ailb.paths ? make("p", {}, make("button", { type: "button", onclick: () => trace(link) }, "Trace paths with this link failed")) : null);
    return { title: link, about: found.color, blocks: [{ title: "Load relative to the peak without failures", element }] };
  });

  function trace(link) {
    /* On a narrow screen the panel would cover the paths. */
    if (matchMedia("(max-width: 1099px)").matches) ailb.panel.close();
    document.getElementById("paths").scrollIntoView();
    ailb.paths.choose(link);
  }

  let begun = null;
  const start = () => (begun ??= begin());

  async function begin() {
    const page = await open();
    const colors = [...new Set(page.links.map((link) => link.color))];
    color.replaceChildren(make("option", { value: "" }, "all"), ...colors.map((name) => make("option", {}, name)));
    form.hidden = false;
    document.getElementById("loads-paint").hidden = !ailb.picture;
    ailb.picture?.onDraw((drawn) => { picture = drawn; paint(); });
    await draw();
  }

  ailb.whenSeen(document.getElementById("loads"), start);
})();
