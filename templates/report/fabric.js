"use strict";
/* The picture: views, size, what is selected, and marks of others: `ailb.picture`. */
(() => {
  const around = document.getElementById("fabric-picture");
  if (!around) return;
  const view = document.getElementById("fabric-view");
  const all = document.getElementById("fabric-all");
  const marked = document.getElementById("fabric-marked");
  const drawn = new Map([["fabric", around.querySelector("svg")]]);
  const listeners = [];
  // A picture is drawn as a whole where its text stays readable; else it scrolls.
  const LARGEST = 1.5, SMALLEST = 1;
  let zoom = 0, path = null, selected = {};

  const svg = () => around.querySelector("svg");

  /* Parsed as XML, whose scripts never run, and not as part of the page's text. */
  async function show(name) {
    const key = all?.checked ? `${name}-all` : name;
    if (!drawn.has(key)) {
      const text = await ailb.data(`fabric-${key}`);
      if (text === null) return false;
      drawn.set(key, document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true));
    }
    around.replaceChildren(drawn.get(key));
    view.value = name;
    resize();
    mark();
    for (const listener of listeners) listener(svg());
    return true;
  }

  function resize() {
    const own = svg();
    const { width, height } = own.viewBox.baseVal;
    const whole = Math.min(LARGEST, Math.max(SMALLEST, (0.8 * innerHeight - 4) / height));
    own.style.width = zoom ? `${Math.round(width * zoom)}px` : "100%";
    own.style.minWidth = zoom ? "" : `${width * SMALLEST}px`;
    own.style.maxWidth = zoom ? "" : `${Math.floor(width * whole)}px`;
    own.style.height = "auto";
  }

  function fitted() { return svg().getBoundingClientRect().width / svg().viewBox.baseVal.width; }

  function mark() {
    const links = new Set(path ? path.links : []);
    const ends = new Set([...links].flatMap(ailb.devices));
    for (const element of svg().querySelectorAll("[data-device],[data-link],[data-bundle]")) {
      const { device, link, bundle } = element.dataset;
      const on = link ? links.has(link) : device ? ends.has(device) : (ailb.bundles?.(bundle) ?? []).some((name) => links.has(name));
      element.classList.toggle("on-path", Boolean(path) && on);
      element.classList.toggle("faded", Boolean(path) && !on);
      element.classList.toggle("selected", Boolean((device && device === selected.device) || (link && link === selected.link) || (bundle && bundle === selected.bundle)));
    }
    marked.hidden = !path;
    marked.firstElementChild.textContent = path?.label ?? "";
  }

  function chosen(event) {
    const element = event.target.closest("[data-device],[data-link],[data-bundle],.group[data-group]") ?? titleOf(event.target);
    if (!element || !around.contains(element)) return;
    const { device, link, bundle, group } = element.dataset;
    if (device) ailb.select({ device });
    else if (link) ailb.select({ link });
    else if (bundle) ailb.select({ bundle });
    else unfold(group);
  }

  /* The frame whose title was clicked; beside it there is nothing to choose. */
  function titleOf(target) { return target.closest("text")?.closest("[data-group]"); }

  async function unfold(group) {
    // The servers of a stripe are seen in its view.
    if (await show(group.replace(/ servers$/, ""))) around.focus();
    else ailb.select({ group });
  }

  around.addEventListener("click", chosen);
  around.addEventListener("keydown", (event) => {
    if ((event.key === "Enter" || event.key === " ") && event.target !== around) { event.preventDefault(); chosen(event); }
  });
  view.addEventListener("change", () => show(view.value));
  all?.addEventListener("change", () => show(view.value));
  document.getElementById("fabric-tools").addEventListener("click", (event) => {
    const by = event.target.dataset?.zoom;
    if (by === undefined) return;
    zoom = Number(by) ? Math.min(4, Math.max(0.1, (zoom || fitted()) * Number(by))) : Math.min(LARGEST, around.clientWidth / svg().viewBox.baseVal.width);
    resize();
  });
  marked.querySelector("button").addEventListener("click", () => ailb.select({ path: null }));
  ailb.onSelect((what) => {
    if ("path" in what) path = what.path ? { links: what.path, label: what.label ?? "" } : null;
    else selected = what;
    mark();
    // Bundles of links are known when the index of links is read.
    if (path) ailb.ready?.().then(mark);
  });
  resize();

  /* For other sections: `onDraw(listener)` is called with the picture now and whenever another view is drawn. */
  ailb.picture = { show, onDraw(listener) { listeners.push(listener); listener(svg()); } };
})();
