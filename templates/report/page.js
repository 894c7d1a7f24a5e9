"use strict";
/* What the scripts of all sections share: `ailb`. */
const ailb = (() => {
  const read = new Map();
  const LATER_MS = 300;

  /* Resolves to the data of a section, decompressed when first asked for; null where it has none. */
  function data(name) {
    if (!read.has(name)) {
      const element = document.getElementById(`data-${name}`);
      read.set(name, element ? unpacked(element.textContent) : Promise.resolve(null));
    }
    return read.get(name);
  }

  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  }

  /* Make an element: attributes, then children, which are elements or text (never HTML). */
  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  /* The words of a search, in small letters; what fits has all of them. */
  function words(text) { return text.toLowerCase().split(/\s+/).filter(Boolean); }

  /* The names of the devices at both ends of a link. */
  function devices(link) { return link.split(" - ").map((end) => end.slice(0, end.indexOf(":"))); }

  /* Begin a part of the page when it is first seen, printed, or some time after the page was opened: what it needs is
     large in a large fabric. A printer does not wait for it, and a screen reader does not scroll to it. */
  function whenSeen(element, begin) {
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      seen.disconnect();
      begin();
    });
    seen.observe(element);
    window.addEventListener("beforeprint", begin);
    window.addEventListener("load", () => setTimeout(begin, LATER_MS));
  }

  /* What is selected: `{device}` or `{link}` or `{path}`; sections listen, and the picture sends. */
  const listeners = [];
  function onSelect(listener) { listeners.push(listener); }
  function select(what) { for (const listener of listeners) listener(what); }

  /* A button with the name of a device or of a link selects it, wherever it stands. */
  const deviceButton = (name, text = name) => make("button", { type: "button", class: "device-name", "data-device": name }, text);
  const linkButton = (name, text = name) => make("button", { type: "button", class: "place", "data-link": name }, text);
  document.addEventListener("click", (event) => {
    const { device, link } = event.target.closest("button")?.dataset ?? {};
    if (device) select({ device });
    else if (link) select({ link });
  });

  return { data, unpacked, make, words, devices, whenSeen, onSelect, select, deviceButton, linkButton };
})();
