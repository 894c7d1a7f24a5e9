"use strict";
/* Devices and links: the list, and what the panel shows of them. */
(() => {
  const table = document.getElementById("devices-table");
  const search = document.getElementById("devices-search");
  const bad = document.getElementById("devices-bad");
  const count = document.getElementById("devices-count");
  const NAME = 0, ROLE = 1, STRIPE = 2, RAIL = 3, COLORS = 4, PART = 5, COUNTS = 6, STATE = 7;
  const MORE = 200;
  const { make, deviceButton, linkButton } = ailb;
  let index = null;

  /* Devices by name, links by name and by device, bundles as pictures call them. */
  async function load() {
    if (index) return index;
    const data = await ailb.data("devices");
    const devices = new Map(data.devices.map((row) => [row[NAME], row]));
    const links = new Map(), at = new Map(), bundles = new Map();
    data.links.rows.forEach(([a, ap, b, bp, color, speed], n) => {
      const [from, to] = [data.devices[a][NAME], data.devices[b][NAME]];
      const link = { a: from, ap: data.links.ports[ap], b: to, bp: data.links.ports[bp], color, speed, fabric: n < data.links.fabric };
      link.name = `${from}:${link.ap} - ${to}:${link.bp}`;
      links.set(link.name, link);
      for (const end of [from, to]) add(at, end, link);
      add(bundles, `${from} - ${to} ${color}`.trim(), link);
    });
    index = { ...data, devices, rows: data.devices, links, at, bundles };
    return index;
  }

  function add(map, key, value) { if (map.has(key)) map.get(key).push(value); else map.set(key, [value]); }

  function bundle(name) {
    if (!index) return [];
    const [device, rest] = name.split(" - ");
    return index.bundles.get(name) ?? (/^\d+ servers$/.test(rest) ? (index.at.get(device) ?? []).filter((link) => !link.fabric) : []);
  }
  ailb.bundles = (name) => bundle(name).map((link) => link.name);
  ailb.ready = load;

  /* A table whose cells are texts or elements; long ones grow on demand. */
  function rowsTable(columns, rows) {
    const bodyOf = make("tbody");
    const element = make("div", { class: "rows", tabindex: 0, role: "region", "aria-label": columns.join(", ") }, make("table", {}, make("thead", {}, make("tr", {}, ...columns.map((name) => make("th", {}, name)))), bodyOf));
    const more = make("button", { type: "button", onclick: () => grow() });
    function grow() {
      for (const row of rows.slice(bodyOf.children.length, bodyOf.children.length + MORE)) bodyOf.append(make("tr", {}, ...row.map((cell) => make("td", {}, cell))));
      const left = rows.length - bodyOf.children.length;
      more.hidden = left <= 0;
      more.textContent = `${left.toLocaleString("en")} more`;
    }
    element.append(more);
    grow();
    return element;
  }

  /* Names of ports with a cable lead to the link, and what is at the other end to the device. */
  function cells(device, columns, row, links) {
    return row.map((text, n) => {
      const link = links.find((one) => (one.a === device ? one.ap : one.b === device ? one.bp : null) === row[0]);
      if (n === 0 && columns[0] === "port" && link) return linkButton(link.name, text);
      if (["cable to", "neighbor"].includes(columns[n]) && text) return deviceButton(text.slice(0, text.indexOf(":")), text);
      if (columns[n] === "state" && text.startsWith("down")) return make("span", { class: "bad" }, text);
      return text;
    });
  }

  async function aboutDevice(what) {
    await load();
    const row = index.devices.get(what.device);
    // A finding about a device may be in a file of none, such as the list of cables.
    const part = index.files[what.file] ?? row?.[PART];
    const files = Object.keys(index.files).filter((path) => index.files[path] === part);
    const found = await ailb.findings?.of(what.device, files) ?? [];
    const texts = await ailb.data(`devices-files-${part}`) ?? {};
    const own = Object.keys(texts).length ? [ailb.fileBlock(texts, found, what)] : [];
    if (!row) return { title: what.device, about: what.file ?? "", blocks: [findingsBlock(found), ...own] };
    const links = index.at.get(what.device) ?? [];
    const blocks = [];
    if (ailb.findings) blocks.push(findingsBlock(found));
    if (row[ROLE] === "server") blocks.push({ title: "NICs", count: links.length, element: rowsTable(["NIC", "cable to", "speed"], links.map((link) => [linkButton(link.name, link.bp), deviceButton(link.a, `${link.a}:${link.ap}`), link.speed])) });
    for (const [title, columns, rows] of await ailb.data(`devices-${row[PART]}`) ?? []) {
      blocks.push({ title, count: rows.length, element: rowsTable(columns, rows.map((one) => cells(what.device, columns, one, links))) });
    }
    blocks.push(...own);
    const about = [row[ROLE], row[STRIPE] ? `stripe ${row[STRIPE]}` : "", row[RAIL] >= 0 ? `rail ${row[RAIL]}` : "", row[COLORS], row[STATE]].filter(Boolean).join(", ");
    if (!what.file && !found.length && blocks.length > 1) blocks[1].chosen = true;
    return { title: what.device, about, blocks };
  }

  function findingsBlock(found) {
    // Causes first: they are what to repair.
    found = [...found].sort((one, other) => Boolean(one.cause) - Boolean(other.cause));
    const items = found.map((one) => make("li", { class: `finding ${one.severity}` },
      make("p", { class: "what" }, make("span", { class: `severity ${one.severity}` }, one.severity), " ", make("code", {}, one.id), " ", make("span", { class: "part" }, one.part), " ", one.message),
      one.expected ? make("p", { class: "expected" }, `expected ${one.expected}`) : null,
      one.found ? make("p", { class: "found" }, `found ${one.found}`) : null,
      one.file ? make("p", { class: "where" }, make("button", { type: "button", class: "place", onclick: () => ailb.select({ device: one.device, file: one.file, line: one.line }) }, `${one.file}:${one.line}`)) : null));
    found.forEach((one, n) => { if (one.cause) items[n].append(make("p", { class: "above" }, `follows from ${one.cause.id} `, deviceButton(one.cause.device), ` ${one.cause.message}`)); });
    const list = make("ol", { class: "plain" }, ...items.slice(0, MORE));
    if (items.length > MORE) list.append(make("li", {}, `and ${(items.length - MORE).toLocaleString("en")} more; search the findings for this device`));
    return { title: "Findings", count: found.length, element: items.length ? list : make("p", {}, "No open findings.") };
  }

  async function aboutLink(name) {
    await load();
    const link = index.links.get(name);
    if (!link) return { title: name, about: "not a link of this fabric", blocks: [] };
    const facts = make("dl", { class: "facts wide" });
    const fact = (term, ...text) => facts.append(make("div", {}, make("dt", {}, term), make("dd", {}, ...text)));
    fact("From", deviceButton(link.a), ` ${link.ap}`);
    fact("To", deviceButton(link.b), ` ${link.bp}`);
    if (link.color) fact("Color", link.color);
    if (link.speed) fact("Speed", link.speed);
    const row = index.devices.get(link.a);
    const sessions = (await ailb.data(`devices-${row[PART]}`) ?? []).find(([title]) => title === "Sessions");
    for (const one of link.fabric ? sessions?.[2].filter((entry) => entry[0] === link.ap) ?? [] : []) fact("BGP session", one[5], one[3] ? `, AS ${one[3]} to AS ${one[4]}` : "");
    const found = [];
    for (const [device, port] of [[link.a, link.ap], [link.b, link.bp]]) {
      found.push(...(await ailb.findings?.of(device) ?? []).filter((one) => one.part === port || one.part.startsWith(`${port}.`)));
    }
    const blocks = [{ title: "Link", element: facts }];
    if (found.length) blocks.push({ ...findingsBlock(found), rank: 1 });
    return { title: name, about: link.fabric ? "between switches" : "to a server", blocks };
  }

  async function aboutBundle(name) {
    await load();
    const rows = bundle(name).map((link) => [linkButton(link.name), link.color, link.speed]);
    return { title: name, about: `${rows.length} links`, blocks: [{ title: "Links", element: rowsTable(["link", "color", "speed"], rows) }] };
  }

  async function aboutGroup(name) {
    await load();
    const stripe = Number(/stripe (\d+)$/.exec(name)?.[1] ?? 0);
    const rows = index.rows.filter((row) => row[STRIPE] === stripe && (!name.startsWith("servers") || row[ROLE] === "server"));
    return { title: name, about: `${rows.length} devices`, blocks: [{ title: "Devices", element: rowsTable(["device", "role", "findings"], rows.map((row) => [deviceButton(row[NAME]), row[ROLE], sum(row) ? String(sum(row)) : ""])) }] };
  }

  const sum = (row) => row[COUNTS].reduce((a, b) => a + b, 0);

  ailb.panel.provide((what) => what.device !== undefined ? aboutDevice(what) : what.link ? aboutLink(what.link) : what.bundle ? aboutBundle(what.bundle) : what.group ? aboutGroup(what.group) : null);

  /* The list: what is in the page are switches; servers are added when they are looked for. */
  async function filter() {
    await load();
    const words = ailb.words(search.value);
    const fits = (row) => (!bad.checked || sum(row) > 0) && words.every((word) => [row[NAME], row[ROLE], row[COLORS], row[STATE]].join(" ").toLowerCase().includes(word));
    const any = words.length > 0 || bad.checked;
    const rows = index.rows.filter((row) => (any || row[ROLE] !== "server") && fits(row));
    table.tBodies[0].replaceChildren(...rows.slice(0, 1000).map((row) => make("tr", {}, make("td", {}, deviceButton(row[NAME])), make("td", {}, row[ROLE]), make("td", {}, row[STRIPE] || ""), make("td", {}, row[RAIL] >= 0 ? row[RAIL] : ""), make("td", {}, row[COLORS]), make("td", {}, row[STATE] ? make("span", { class: "out" }, row[STATE]) : null), make("td", { class: "number" }, sum(row) || ""))));
    count.textContent = any ? `${rows.length.toLocaleString("en")} ${rows.length === 1 ? "device" : "devices"}` : "";
  }
  let waiting = 0;
  document.getElementById("devices-filter").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 80); });
  document.getElementById("devices-filter").addEventListener("submit", (event) => event.preventDefault());
})();
