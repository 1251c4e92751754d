/**
 * Draws the runs of a suite over the table that says the same.
 *
 * [data-trend] holds the points as JSON. Runs stand side by side in order of
 * their start; a line joins runs that compare, and a break is a gap. Nothing is
 * added up over runs.
 */
"use strict";
(() => {
  /**
   * @typedef {{run: string, href: string, when: string, verdict: string, passed: string,
   *   rate: number | null, lower: number | null, upper: number | null, breaks: boolean}} Point
   */

  /** Returns the colour that a class has now. @param {HTMLElement} place @param {string} name */
  function ink(place, name) {
    const probe = place.appendChild(document.createElement("span"));
    probe.className = name;
    const colour = getComputedStyle(probe).color;
    probe.remove();
    return colour;
  }

  /** @param {HTMLElement} figure */
  function draw(figure) {
    /** @type {Point[]} */
    const points = JSON.parse(figure.querySelector("script")?.textContent ?? "[]");
    if (points.length < 2) return;
    figure.hidden = false;
    // A break puts an empty place between two runs, so that no line crosses it.
    /** @type {(Point | null)[]} */
    const places = [];
    for (const point of points) {
      if (point.breaks) places.push(null);
      places.push(point);
    }
    const at = places.map((_, place) => place);
    const rates = places.map((point) => (point?.rate == null ? null : point.rate * 100));
    let colours = { text: "", line: "", grid: "" };
    const recolour = () => {
      colours = { text: ink(figure, "quiet-text"), line: ink(figure, "ink-good"), grid: ink(figure, "ink-faint") };
    };
    recolour();

    /** Draws intervals, and dashes where there is a break. @param {any} chart */
    function intervals(chart) {
      const context = chart.ctx;
      context.save();
      context.strokeStyle = colours.line;
      context.lineWidth = devicePixelRatio * 1.5;
      places.forEach((point, place) => {
        const x = chart.valToPos(place, "x", true);
        if (point === null) {
          context.save();
          context.strokeStyle = colours.grid;
          context.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
          context.beginPath();
          context.moveTo(x, chart.bbox.top);
          context.lineTo(x, chart.bbox.top + chart.bbox.height);
          context.stroke();
          context.restore();
          return;
        }
        if (point.lower === null || point.upper === null) return;
        const low = chart.valToPos(point.lower * 100, "y", true);
        const high = chart.valToPos(point.upper * 100, "y", true);
        const cap = 4 * devicePixelRatio;
        context.beginPath();
        context.moveTo(x, low);
        context.lineTo(x, high);
        for (const end of [low, high]) {
          context.moveTo(x - cap, end);
          context.lineTo(x + cap, end);
        }
        context.stroke();
      });
      context.restore();
    }

    const font = `12px ${getComputedStyle(figure).fontFamily}`;
    const axis = { font, stroke: () => colours.text, ticks: { show: false } };
    const chart = new uPlot(
      {
        width: Math.max(320, figure.clientWidth),
        height: 260,
        scales: { x: { time: false, range: [-0.5, places.length - 0.5] }, y: { range: [0, 100] } },
        cursor: { drag: { x: false, y: false }, y: false },
        hooks: { draw: [intervals] },
        axes: [
          {
            ...axis,
            grid: { show: false },
            splits: () => at.filter((place) => places[place] !== null),
            values: (/** @type {any} */ _, /** @type {number[]} */ shown) => shown.map((place) => places[place]?.run ?? ""),
            space: 70,
          },
          { ...axis, size: 56, grid: { stroke: () => colours.grid, width: 0.3 }, values: (/** @type {any} */ _, /** @type {number[]} */ shown) => shown.map((rate) => `${rate} %`) },
        ],
        series: [
          { label: "run", value: (/** @type {any} */ _, /** @type {number | null} */ place) => (place === null ? "–" : told(places[place])) },
          {
            label: "trials passed",
            stroke: () => colours.line,
            width: 2,
            spanGaps: false,
            points: { show: true, size: 9, stroke: () => colours.line, fill: () => colours.line },
            value: (/** @type {any} */ _u, /** @type {any} */ _v, /** @type {any} */ _s, /** @type {number | null} */ place) =>
              place === null ? "–" : (places[place]?.passed ?? "break"),
          },
        ],
      },
      [at, rates],
      figure,
    );
    figure.prepend(chart.root);
    chart.over.addEventListener("click", () => {
      const point = chart.cursor.idx == null ? null : places[chart.cursor.idx];
      if (point) location.assign(point.href);
    });
    new ResizeObserver(() => chart.setSize({ width: Math.max(320, figure.clientWidth), height: 260 })).observe(figure);
    const redraw = () => {
      recolour();
      chart.redraw();
    };
    new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  }

  /** @param {Point | null} point */
  const told = (point) => (point ? `${point.run}, ${point.when}, ${point.verdict}` : "break");

  document.addEventListener("DOMContentLoaded", () => {
    for (const figure of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-trend]"))) draw(figure);
  });
})();
