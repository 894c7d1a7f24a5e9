"use strict";
/* Charts of lines: values where the pointer is, and series that are hidden by their box in the legend. */
(() => {
  const SVG = "http://www.w3.org/2000/svg";

  function axis([start, end, least, most, log]) {
    const [low, high] = log ? [Math.log10(least), Math.log10(most)] : [least, most];
    return (place) => {
      const value = low + ((place - start) / (end - start)) * (high - low);
      return log ? 10 ** value : value;
    };
  }

  const shown = (value) => Number(value.toPrecision(4)).toLocaleString("en-US", { maximumSignificantDigits: 4 });

  /* The point of a line that is nearest to a place in x. */
  function nearest(line, x) {
    let found = null;
    for (const point of line.points) if (!found || Math.abs(point.x - x) < Math.abs(found.x - x)) found = point;
    return found;
  }

  function follow(figure, svg) {
    const numbers = svg.dataset.axes.split(" ").map(Number);
    const [toX, toY] = [axis(numbers.slice(0, 5)), axis(numbers.slice(5))];
    const names = [...figure.querySelectorAll(".chart-legend label")].map((label) => label.textContent.trim());
    const box = ailb.make("output", { class: "chart-here", hidden: true });
    const pointer = document.createElementNS(SVG, "line");
    pointer.setAttribute("class", "pointer");
    figure.append(box);
    svg.addEventListener("pointerleave", () => { box.hidden = true; pointer.remove(); });
    svg.addEventListener("pointermove", (event) => {
      const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const [left, right] = [numbers[0], numbers[1]];
      const x = Math.min(Math.max(place.x, left), right);
      const rows = [];
      for (const group of svg.querySelectorAll("[data-series]:not([hidden])")) {
        const point = nearest(group.querySelector(".line"), x);
        if (point) rows.push(`${names[group.dataset.series]}: ${shown(toY(point.y))}`);
      }
      box.textContent = [shown(toX(x)), ...rows].join("\n");
      for (const [name, value] of [["x1", x], ["x2", x], ["y1", numbers[5]], ["y2", numbers[6]]]) pointer.setAttribute(name, value);
      svg.append(pointer);
      box.hidden = false;
      const around = figure.getBoundingClientRect();
      const beside = event.clientX - around.left + 16;
      box.style.left = `${Math.max(0, beside + box.offsetWidth > around.width ? beside - box.offsetWidth - 32 : beside)}px`;
      box.style.top = `${event.clientY - around.top + 12}px`;
    });
  }

  for (const figure of document.querySelectorAll(".chart")) {
    const svg = figure.querySelector("svg[data-axes]");
    if (svg) follow(figure, svg);
    figure.querySelector(".chart-legend")?.addEventListener("change", (event) => {
      for (const group of svg.querySelectorAll(`[data-series="${event.target.value}"]`)) group.toggleAttribute("hidden", !event.target.checked);
    });
  }
})();
