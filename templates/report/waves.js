"use strict";
/* Waves: the sessions that a wave affects, highlighted in the picture, and in the panel a device's steps by wave. */
(() => {
  const section = document.getElementById("waves");

  /* Links that a picture shows as one: between two switches, or of a stripe, in one color. */
  const bundles = new Map();
  ailb.bundles ??= (name) => bundles.get(name) ?? [];
  async function load() {
    const data = await ailb.data("waves");
    if (bundles.size) return data;
    const seen = new Set();
    for (const [name, color, stripe] of Object.values(data.links).flat()) {
      if (seen.has(name)) continue;
      seen.add(name);
      for (const key of [`${ailb.devices(name).join(" - ")} ${color}`.trim(), `stripe ${stripe} - ${color}`]) {
        if (!bundles.has(key)) bundles.set(key, []);
        bundles.get(key).push(name);
      }
    }
    return data;
  }

  section.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-wave]");
    if (!button) return;
    const data = await load();
    const number = Number(button.dataset.wave);
    const [, name] = data.waves.find(([one]) => one === number);
    const links = new Set();
    for (const [device, rows] of Object.entries(data.devices)) {
      if (rows.some(([one]) => one === number)) for (const [link] of data.links[device] ?? []) links.add(link);
    }
    ailb.select({ path: [...links], label: `Sessions affected by wave ${number} (${name}): ${links.size}` });
    document.getElementById("fabric").scrollIntoView();
  });

  function item(name, value) {
    return ailb.make("div", {}, ailb.make("dt", {}, name), ailb.make("dd", {}, value));
  }

  ailb.panel.provide(async ({ device, link, bundle }) => {
    const data = await load();
    if (bundle) {
      const links = bundles.get(bundle) ?? [];
      return { title: bundle, about: "", blocks: [{ title: `Affected sessions: ${links.length}`, element: listed(links) }] };
    }
    if (link) {
      const touching = Object.keys(data.links).filter((name) => data.links[name].some(([one]) => one === link));
      const about = touching.length ? `Session affected by the change of ${touching.join(" and ")}.` : "Session not affected.";
      return { title: link, about, blocks: [{ title: "Ends", element: ends(link) }] };
    }
    const rows = device && data.devices[device];
    if (!device) return null;
    const element = ailb.make("div");
    if (!rows) element.append(ailb.make("p", {}, "No change on this device."));
    for (const [number, outcome, reason, times] of rows ?? []) {
      const name = data.waves.find(([one]) => one === number)[1];
      const list = ailb.make("dl", { class: "facts" });
      if (outcome) list.append(item("outcome", outcome));
      times.forEach((time, at) => time && list.append(item(data.steps[at], time)));
      element.append(ailb.make("h3", {}, `Wave ${number}: ${name}`), list, reason ? ailb.make("p", {}, reason) : "");
    }
    const links = data.links[device];
    if (links) element.append(ailb.make("h3", {}, `Affected sessions: ${links.length}`), listed(links.map(([name]) => name)));
    return { title: device, about: "", blocks: [{ title: "Push", element }] };
  });

  const SHOWN = 16;
  function listed(links) {
    const item = (name) => ailb.make("li", {}, ailb.linkButton(name));
    const list = ailb.make("ul", {}, ...links.slice(0, SHOWN).map(item));
    const more = () => { list.lastElementChild.remove(); list.append(...links.slice(SHOWN).map(item)); };
    if (links.length > SHOWN) list.append(ailb.make("li", {}, ailb.make("button", { type: "button", onclick: more }, `${links.length - SHOWN} more`)));
    return list;
  }

  function ends(link) {
    return ailb.make("p", {}, ...ailb.devices(link).flatMap((name) => [ailb.deviceButton(name), " "]));
  }
})();
