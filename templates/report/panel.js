"use strict";
/* The panel beside the page: details of what is selected, made by what sections provide. */
ailb.panel = (() => {
  const panel = document.getElementById("panel");
  const [title, about, tabs, body] = ["title", "about", "tabs", "body"].map((name) => document.getElementById(`panel-${name}`));
  const wide = document.getElementById("panel-wide");
  const providers = [];
  let origin = null, latest = 0, last = "";

  /* `provider(what)` resolves to `{title, about, blocks}` or null; a block is `{title, element, count, chosen,
     rank}`. What several provide for one selection stands one below the other, lower ranks first, that of a device in
     tabs. */
  function provide(provider) { providers.push(provider); }

  async function open(what) {
    const turn = ++latest;
    const parts = (await Promise.all(providers.map((provider) => provider(what)))).filter(Boolean);
    if (turn !== latest || !parts.length) return;
    if (panel.hidden) origin = document.activeElement;
    title.textContent = parts[0].title;
    about.textContent = parts.map((part) => part.about).filter(Boolean).join(" · ");
    const blocks = parts.flatMap((part) => part.blocks).sort((one, other) => (one.rank ?? 0) - (other.rank ?? 0));
    body.replaceChildren();
    tabs.replaceChildren();
    tabs.hidden = !what.device || blocks.length < 2;
    if (tabs.hidden) blocks.forEach((block) => body.append(ailb.make("section", {}, ailb.make("h3", {}, block.title), block.element)));
    else tabbed(blocks);
    panel.hidden = false;
    document.body.classList.add("with-panel");
    body.scrollTop = 0;
    title.focus({ preventScroll: true });
    for (const block of blocks) block.shown?.();
  }

  /* Tabs as in WAI-ARIA's pattern: arrows move, only the chosen one can be reached by Tab. */
  function tabbed(blocks) {
    const first = Math.max(blocks.findIndex((block) => block.chosen), blocks.findIndex((block) => !block.chosen && block.title === last), 0);
    const chosen = blocks.some((block) => block.chosen) ? blocks.findIndex((block) => block.chosen) : first;
    blocks.forEach((block, n) => {
      const label = block.count === undefined ? block.title : `${block.title} (${block.count.toLocaleString("en")})`;
      tabs.append(ailb.make("button", { type: "button", role: "tab", id: `panel-tab-${n}`, "aria-controls": `panel-part-${n}`, onclick: () => choose(n) }, label));
      body.append(ailb.make("div", { role: "tabpanel", id: `panel-part-${n}`, "aria-labelledby": `panel-tab-${n}`, hidden: true }, block.element));
    });
    function choose(n) {
      [...tabs.children].forEach((tab, at) => { tab.setAttribute("aria-selected", String(at === n)); tab.tabIndex = at === n ? 0 : -1; });
      [...body.children].forEach((part, at) => { part.hidden = at !== n; });
      last = blocks[n].title;
      blocks[n].shown?.();
    }
    tabs.onkeydown = (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      const next = (([...tabs.children].indexOf(document.activeElement) + by) + blocks.length) % blocks.length;
      choose(next);
      tabs.children[next].focus();
    };
    choose(chosen);
  }

  function close() {
    if (panel.hidden) return;
    latest++;
    panel.hidden = true;
    document.body.classList.remove("with-panel");
    if (origin?.isConnected) origin.focus({ preventScroll: true });
    ailb.select({});
  }

  document.getElementById("panel-close").addEventListener("click", close);
  wide.addEventListener("click", () => {
    const on = panel.classList.toggle("wide");
    wide.setAttribute("aria-pressed", String(on));
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
  ailb.onSelect((what) => { if (what.device || what.link || what.bundle || what.group) open(what); });

  return { provide, close };
})();

/* The address names what is selected, so that it can be passed on: `#device=NAME` or `#link=NAME`. */
(() => {
  const KINDS = ["device", "link"];
  ailb.onSelect((what) => {
    if ("path" in what) return;
    const kind = KINDS.find((name) => what[name]);
    if (kind) history.replaceState(null, "", `#${kind}=${encodeURIComponent(what[kind])}`);
    else if (KINDS.some((name) => location.hash.startsWith(`#${name}=`))) history.replaceState(null, "", "#");
  });
  function follow() {
    const [[kind, name] = []] = new URLSearchParams(location.hash.slice(1));
    if (KINDS.includes(kind) && name) ailb.select({ [kind]: name });
  }
  window.addEventListener("hashchange", follow);
  window.addEventListener("load", follow);
})();

/* On paper everything is unfolded. */
(() => {
  let folded = [];
  window.addEventListener("beforeprint", () => { folded = [...document.querySelectorAll("details:not([open], .follows)")]; for (const one of folded) one.open = true; });
  window.addEventListener("afterprint", () => { for (const one of folded) one.open = false; });
})();
