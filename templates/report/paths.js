"use strict";
/* Paths between two NICs: choose them, a failure and a queue pair; `ailb.paths` is what else may trace. */
(() => {
  const form = document.getElementById("paths-form");
  if (!form) return;
  const field = (name) => document.getElementById(`paths-${name}`);
  const result = field("result"), LISTED = 4, HINTS = 40;
  const { make } = ailb;
  let ready = null, answered = "";

  /* The tracer with the servers and failures of this page by name. */
  function open() {
    ready ??= ailb.data("paths").then((tables) => {
      const tracer = ailb.tracer(tables);
      const hosts = new Map(tables.hosts.map(([name], number) => [name, number]));
      const failures = new Map(), ends = new Map();
      for (const group of tables.failures) {
        [...group.links.map((session) => [tracer.linkName(session), null]), ...group.switches.map((device) => [tables.devices[device], device])]
          .forEach(([name, device], at) => {
            failures.set(name, { group, at, device });
            if (device === null) for (const end of name.split(" - ")) ends.set(end, name);
          });
      }
      return { tables, tracer, hosts, failures, ends };
    });
    return ready;
  }

  /* What is down, by the words of `--fail`; throws an Error for what this page does not have. */
  async function failureOf(page, word) {
    const { tables, tracer, hosts, failures, ends } = page;
    const none = tracer.nothing();
    if (!word) return none;
    const name = failures.has(word) ? word : ends.get(word.replace(/\.0$/, ""));
    if (name) {
      const { group, at, device } = failures.get(name);
      const rows = await ailb.unpacked(group.packed[Math.floor(at / group.size)]);
      const { change, doubtful } = tracer.changes(rows[at % group.size]);
      return { ...none, change, doubtful: new Set([...none.doubtful, ...doubtful]), dead: new Set(device === null ? [] : [device]) };
    }
    const [server, nic] = word.split(" - ").at(-1).split(":");
    const host = hosts.get(server), number = host === undefined ? -1 : tracer.nicsOf(host).indexOf(nic);
    if (number >= 0 && tracer.cableOf(host, number)) return { ...none, nics: new Set([`${host} ${number}`]) };
    throw new Error(`${word}: not among the failures of this page; 'ailb-gen path --fail' accepts any, also several`);
  }

  /* Trace the queue pairs from NIC to NIC, as SERVER:NIC; all of them, or one. */
  async function traced(source, target, word = "", hash = "0", pair = 0) {
    const page = await open();
    const [from, fromNic] = endOf(page, source), [to, toNic] = endOf(page, target);
    const failure = await failureOf(page, word);
    return page.tracer.flows(from, fromNic, to, toNic)
      .filter(([end]) => !pair || end.pair === pair)
      .map(([start, end]) => page.tracer.trace(failure, start, end, BigInt(hash)));
  }

  function endOf({ hosts, tracer }, text) {
    const [server, nic] = text.split(":");
    const host = hosts.get(server);
    if (host === undefined) throw new Error(`there is no server called ${server}`);
    const number = tracer.nicsOf(host).indexOf(nic);
    if (number < 0) throw new Error(`${server} has no NIC ${nic}`);
    return [host, number];
  }

  /* All queue pairs as one table: a group of rows for each. */
  function table(found) {
    const head = ["Hop", "Device", "Forwarding", ""].map((name) => make(name ? "th" : "td", name ? { scope: "col" } : {}, name));
    return make("div", { class: "sideways", tabindex: 0, role: "group", "aria-label": "Traced hops" },
      make("table", { class: "paths-hops" }, make("thead", {}, make("tr", {}, ...head)), ...found.map(group)));
  }

  function group({ path, links, gateway, doubtful }) {
    const title = `Queue pair ${path.queue_pair}`;
    const texts = [path.source, path.destination].map((end) => end.address ?? end.prefix);
    const show = links.length
      ? make("button", { type: "button", onclick: () => ailb.select({ path: links, label: title.toLowerCase() }) }, "Highlight")
      : "";
    const notes = [
      ...(path.problem ? [["paths-problem", `FAILS: ${path.problem}`]] : []),
      ...doubtful.map((prefix) => ["paths-note", `The routes of ${prefix} do not converge; this is one of several states.`]),
    ];
    return make("tbody", { class: `paths-pair${path.problem ? " fails" : ""}`, "data-pair": path.queue_pair },
      make("tr", { class: "paths-title" }, make("th", { colspan: 3, scope: "rowgroup" }, title, make("small", {}, `${texts[0]} → ${texts[1]}`)), make("td", {}, show)),
      ...notes.map(([name, text]) => make("tr", {}, make("td", { colspan: 4, class: name }, text))),
      ...hops(path, links, gateway));
  }

  function hops(path, links, gateway) {
    const rule = path.rule !== null ? `rule ${path.rule}` : "no rule";
    const out = path.nic ? `${gateway ? `, via ${gateway}` : ""}, out ${path.nic}` : ": no route";
    const rows = [hop(1, path.source.device, `${rule}, table ${path.table}${out}`, [], path.hops.length ? `${path.source.device}:${path.nic}` : "")];
    path.hops.forEach((one, at) => {
      const arrived = `in ${one.in || path.entered}, `;
      if (one.prefix === null) rows.push(hop(at + 2, one.switch, `${arrived}no route`));
      else if (!one.ways.length) {
        const cable = path.problem ? "" : `${path.destination.device}:${path.destination.port}`;
        rows.push(hop(at + 2, one.switch, `${arrived}${one.prefix} is direct`, [], cable));
      } else {
        const way = one.ways[one.taken];
        const others = one.ways.filter((_, number) => number !== one.taken);
        rows.push(hop(at + 2, one.switch, `${arrived}out ${way.interface} to ${way.peer} (${one.color || "uncolored"})`, others, links[at + 1]));
      }
    });
    if (!path.problem) rows.push(hop(path.hops.length + 2, path.destination.device, `in ${path.destination.port}`));
    return rows;
  }

  /* A hop of a path; `link` can be made to fail there. */
  function hop(number, device, text, others = [], link = "") {
    const rest = others.slice(0, LISTED).map((way) => `or out ${way.interface} to ${way.peer}`);
    if (others.length > LISTED) rest.push(`or one of ${others.length - LISTED} more`);
    const fail = link ? make("button", { type: "button", "aria-label": `Fail ${link}`, onclick: () => choose(link) }, "Fail") : "";
    return make("tr", {}, make("td", {}, String(number)), make("td", {}, device),
      make("td", {}, text, ...rest.map((line) => make("div", { class: "others" }, line))), make("td", {}, fail));
  }

  /* How many are reachable, and which share a link between switches: those share its bandwidth. */
  function summary(found) {
    const arrived = found.filter(({ path }) => !path.problem), users = new Map();
    for (const { path } of arrived) {
      for (const one of path.hops.filter((each) => each.ways.length)) {
        const place = `${one.switch} ${one.ways[one.taken].interface}`;
        users.set(place, [...(users.get(place) ?? []), path.queue_pair]);
      }
    }
    const shared = [...users].filter(([, pairs]) => pairs.length > 1);
    return [
      make("p", { class: arrived.length < found.length ? "paths-problem" : "paths-summary" }, `${arrived.length} of ${found.length} queue pairs reachable`),
      ...shared.map(([place, pairs]) => make("p", { class: "paths-note" }, `${place} is shared by queue pairs ${pairs.join(", ")}`)),
    ];
  }

  const ends = () => [["from", field("from").value, field("from-nic").value], ["to", field("to").value, field("to-nic").value]];
  const quoted = (word) => (/^[\w:./@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

  async function trace() {
    const page = await open();
    const [source, target] = ends().map(([, server, nic]) => `${server}:${nic}`);
    const word = field("fail").value.trim(), hash = field("hash").value.trim() || "0", pair = Number(field("pair").value);
    const words = ["ailb-gen", "path", source, target, ...(pair ? ["--qp", String(pair)] : []), ...(hash !== "0" ? ["--hash", hash] : []),
      ...(word ? ["--fail", word] : []), "-C", page.tables.artifacts];
    const command = words.map(quoted).join(" ");
    // What is shown stays while the question is the same: a button that is just being pressed, too.
    if (command === answered) return;
    answered = command;
    field("command").textContent = command;
    field("repair").hidden = !word;
    try {
      if (!/^[0-9]+$/.test(hash)) throw new Error(`${hash}: the hash is a number`);
      const found = await traced(source, target, word, hash, pair);
      if (command !== answered) return;
      result.replaceChildren(...summary(found), table(found));
    } catch (error) {
      result.replaceChildren(make("p", { class: "paths-problem" }, error.message));
    }
  }

  /* Trace with something down, between NICs of two leaves if they are named. */
  async function choose(link, ...leaves) {
    await start();
    field("fail").value = link;
    const { tables, tracer } = await open();
    for (const [at, name] of ["from", "to"].entries()) {
      const host = leaves[at] === undefined ? -1 : tables.hosts.findIndex((_, number) => nicOn(number, leaves[at]) >= 0);
      if (host < 0) continue;
      field(name).value = tracer.hostName(host);
      await nics(name);
      field(`${name}-nic`).selectedIndex = nicOn(host, leaves[at]);
    }
    await trace();
    field("fail").focus();

    /* The first NIC of a server that is cabled to a leaf. */
    function nicOn(number, leaf) {
      return tracer.nicsOf(number).findIndex((_, nic) => tables.devices[tracer.cableOf(number, nic)?.device] === leaf);
    }
  }

  /* The NICs of the server of a field; the one that was chosen stays if the new server has it. */
  async function nics(name) {
    const { hosts, tracer } = await open();
    const host = hosts.get(field(name).value), list = field(`${name}-nic`), before = list.value;
    list.replaceChildren(...(host === undefined ? [] : tracer.nicsOf(host)).map((nic) => make("option", {}, nic)));
    if (host !== undefined && tracer.nicsOf(host).includes(before)) list.value = before;
  }

  /* What a field may be completed to: the names that hold what is typed. */
  function hint(list, names, typed) {
    const found = [];
    for (const name of names) {
      if (name.includes(typed)) found.push(make("option", { value: name }));
      if (found.length >= HINTS) break;
    }
    list.replaceChildren(...found);
  }

  let begun = null;
  const start = () => (begun ??= begin());

  async function begin() {
    const { tables, tracer, hosts, failures } = await open();
    const names = [...hosts.keys()];
    field("from").value = names[0];
    field("to").value = names.at(-1);
    const width = Math.max(0, ...tables.profiles.map((profile) => Math.max(0, ...profile.nics.map((_, nic) => profile.rules.filter((rule) => rule[3] === nic).length))));
    field("pair").replaceChildren(make("option", { value: "0" }, "all"), ...Array.from({ length: width }, (_, at) => make("option", {}, String(at + 1))));
    for (const name of ["from", "to"]) {
      await nics(name);
      field(name).addEventListener("input", async () => {
        hint(field("servers"), names, field(name).value);
        await nics(name);
        if (hosts.has(field(name).value)) trace();
      });
    }
    if (names.length === 1 && tracer.nicsOf(0).length > 1) field("to-nic").selectedIndex = 1;
    hint(field("servers"), names, "");
    hint(field("failures"), failures.keys(), "");
    field("fail").addEventListener("input", () => hint(field("failures"), failures.keys(), field("fail").value));
    await trace();
  }

  form.addEventListener("submit", (event) => { event.preventDefault(); trace(); });
  form.addEventListener("change", () => trace());
  field("repair").addEventListener("click", () => choose(""));
  ailb.whenSeen(form, start);
  ailb.paths = { open, traced, choose };
})();
