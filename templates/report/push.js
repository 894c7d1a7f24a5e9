"use strict";
/* Sections about pushes: tables can be filtered. */
(() => {
  /* Long tables show their first rows until something is looked for, or all are asked for. */
  const MOST = 15;
  for (const form of document.querySelectorAll("form[data-table]")) {
    const rows = [...document.getElementById(form.dataset.table).tBodies[0].rows];
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const output = form.querySelector("output"), all = form.querySelector("[data-all]");
    let most = MOST;
    const filter = () => {
      const words = ailb.words(form.elements.words.value);
      const outcome = form.elements.outcome.value;
      let count = 0;
      rows.forEach((row, at) => {
        const fits = (!outcome || row.dataset.outcome === outcome) && words.every((word) => texts[at].includes(word));
        count += fits;
        row.hidden = !fits || count > most;
      });
      const shown = Math.min(count, most);
      output.textContent = shown === rows.length ? "" : `${shown} of ${count} devices shown`;
      all.hidden = shown === count;
    };
    all.addEventListener("click", () => { most = rows.length; filter(); });
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    addEventListener("beforeprint", () => { most = rows.length; filter(); });
    filter();
  }
})();
