/**
 * The single file of a run: the table of all trials, the page of one, views.
 *
 * The data lies at the end of the document in blocks that no parser runs:
 *   #index      JSON: the words that rows point to
 *   #rows-N     rows of the table, packed
 *   #pages-N    pages of trials, packed
 * Packed is a JSON list, deflated, in base64. A page is our own markup, with
 * everything foreign escaped in it; it is still stripped of whatever could run
 * before it is shown.
 */
"use strict";
(() => {
  /** Height of a row, px; the stylesheet's. */
  const ROW = 36;
  /** Rows drawn beyond each edge. */
  const AROUND = 10;
  /** Blocks of pages kept unpacked. */
  const KEPT = 8;
  /** Options of a choice; more are found by searching. */
  const MAX_OPTIONS = 400;

  document.documentElement.classList.add("scripted");

  // --- data ----------------------------------------------------------------

  /**
   * @typedef {{code: string, label: string, shape?: string | null, ink: string}} Word
   * @typedef {{id: string, title: string, model?: string}} Case
   * @typedef {{rows: number, rowBlocks: number, cases: Case[], outcomes: Word[],
   *   stages: string[], states: Word[], reasons: string[]}} Index
   * @typedef {[id: string, place: number | null, number: number, outcome: number,
   *   strip: string, reason: number | null, ms: number, block: number, item: number]} Row
   */
  const ID = 0, CASE = 1, NUMBER = 2, OUTCOME = 3, STRIP = 4, REASON = 5, MS = 6, BLOCK = 7, ITEM = 8;

  /** @param {string} id @returns {Promise<any[]>} */
  async function unpack(id) {
    const text = document.getElementById(id)?.textContent ?? "";
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return JSON.parse(await new Response(stream).text());
  }

  /** @type {Map<number, Promise<any[]>>} */
  const unpacked = new Map();

  /** Returns the pages of a block; the last few stay unpacked. @param {number} block */
  function pages(block) {
    const found = unpacked.get(block) ?? unpack(`pages-${block}`);
    unpacked.delete(block);
    unpacked.set(block, found);
    for (const old of unpacked.keys()) {
      if (unpacked.size <= KEPT) break;
      unpacked.delete(old);
    }
    return found;
  }

  const UNSAFE = "script, style, link, meta, base, iframe, frame, frameset, object, embed, applet, template, portal";
  const ADDRESSES = ["href", "xlink:href", "src", "srcset", "action", "formaction", "data", "poster", "background", "ping"];

  /** Parses markup without running anything and strips what could run. @param {string} markup */
  function inert(markup) {
    const parsed = new DOMParser().parseFromString(markup, "text/html");
    for (const element of parsed.querySelectorAll(UNSAFE)) element.remove();
    for (const element of parsed.querySelectorAll("*")) {
      for (const attribute of [...element.attributes]) {
        const name = attribute.name.toLowerCase();
        const leaves = ADDRESSES.includes(name) && !attribute.value.startsWith("#");
        if (name.startsWith("on") || name === "style" || name === "srcdoc" || leaves) {
          element.removeAttributeNode(attribute);
        }
      }
    }
    const fragment = document.createDocumentFragment();
    fragment.append(...parsed.body.childNodes);
    return fragment;
  }

  // --- small things ----------------------------------------------------------

  /** @param {string} name @param {string} [className] @param {string} [text] */
  function make(name, className, text) {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  /** @param {Word} word */
  function drawn(word) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", `mark ${word.ink}`);
    svg.setAttribute("viewBox", "0 0 16 16");
    svg.setAttribute("aria-hidden", "true");
    const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
    use.setAttribute("href", `#${word.shape}`);
    svg.append(use);
    return svg;
  }

  /** @param {number} ms */
  function duration(ms) {
    if (ms < 1000) return `${ms} ms`;
    if (ms < 10_000) return `${Math.floor(ms / 100) / 10} s`.replace(/^(\d+) s/, "$1.0 s");
    if (ms < 120_000) return `${Math.floor(ms / 1000)} s`;
    return `${Math.floor(ms / 60_000)} min ${Math.floor(ms / 1000) % 60} s`;
  }

  // --- the document ----------------------------------------------------------

  /** @type {Index} */
  let index;
  /** @type {Row[]} */
  let rows = [];
  /** Rows shown, in their order: places in `rows`. */
  let shown = new Uint32Array(0);
  /** The current one of them. */
  let current = -1;
  /** @type {Map<string, number> | undefined} */
  let byId;

  const ready = new Promise((done) => {
    document.addEventListener("DOMContentLoaded", () => done(undefined));
  }).then(async () => {
    for (const element of document.querySelectorAll("[data-unscripted]")) element.hidden = true;
    route();
    index = JSON.parse(document.getElementById("index")?.textContent ?? "null");
    for (let block = 0; block < index.rowBlocks; block += 1) {
      for (const row of await unpack(`rows-${block}`)) rows.push(row);
    }
    openTable();
  });

  /** @param {string} id */
  function placeOf(id) {
    byId ??= new Map(rows.map((row, place) => [row[ID], place]));
    return byId.get(id);
  }

  /** The stage that first failed; -1 for none. @param {Row} row */
  const failedStage = (row) => row[STRIP].indexOf("F");

  /** @param {Row} row */
  const caseOf = (row) => (row[CASE] === null ? undefined : index.cases[row[CASE]]);

  // --- the table --------------------------------------------------------------

  /** @type {HTMLElement} */
  let box;
  /** @type {HTMLTableSectionElement} */
  let body;
  /** @type {HTMLFormElement} */
  let form;
  let order = { key: "", down: false };
  let first = -1;
  let last = -1;

  function openTable() {
    box = /** @type {HTMLElement} */ (document.querySelector("[data-rows]"));
    form = /** @type {HTMLFormElement} */ (document.querySelector("form[data-trials]"));
    body = /** @type {HTMLTableSectionElement} */ (box.querySelector("tbody"));
    fillChoices();
    box.hidden = false;
    form.hidden = false;
    box.querySelector("table")?.setAttribute("aria-rowcount", String(rows.length + 1));
    form.addEventListener("input", select);
    form.addEventListener("submit", (event) => event.preventDefault());
    box.addEventListener("scroll", draw, { passive: true });
    new ResizeObserver(draw).observe(box);
    box.addEventListener("keydown", onKey);
    box.addEventListener("click", onClick);
    form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "ArrowDown") return;
      if (!(event.target instanceof HTMLInputElement)) return;
      event.preventDefault();
      box.focus();
      go(0);
    });
    select();
    route();
  }

  function fillChoices() {
    const used = { outcome: new Set(), stage: new Set(), reason: new Set(), case: new Set() };
    for (const row of rows) {
      used.outcome.add(row[OUTCOME]);
      used.stage.add(failedStage(row));
      if (row[REASON] !== null) used.reason.add(row[REASON]);
      if (row[CASE] !== null) used.case.add(row[CASE]);
    }
    const label = (/** @type {Case} */ named) => (named.model ? `${named.title} [${named.model}]` : named.title);
    const words = {
      outcome: index.outcomes.map((word) => word.label),
      stage: index.stages,
      reason: index.reasons,
      case: index.cases.map(label),
    };
    for (const [name, texts] of Object.entries(words)) {
      const field = form.elements.namedItem(name);
      if (!(field instanceof HTMLSelectElement)) continue;
      const places = [...used[/** @type {keyof typeof used} */ (name)]].filter((place) => place >= 0).sort((a, b) => a - b);
      if (places.length > MAX_OPTIONS || places.length === 0) {
        field.hidden = true;
        continue;
      }
      for (const place of places) field.append(new Option(texts[place], String(place)));
      if (name === "stage") field.append(new Option("no stage failed", "-1"));
    }
  }

  /** Selects and sorts the rows that the form lets through. */
  function select() {
    const fields = new FormData(form);
    const words = String(fields.get("text") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = (/** @type {string} */ name) => {
      const text = String(fields.get(name) ?? "");
      return text === "" ? null : Number(text);
    };
    const [outcome, stage, reason, place] = ["outcome", "stage", "reason", "case"].map(wanted);
    // What a word occurs in is found once per text, not once per row.
    const has = (/** @type {string[]} */ texts, /** @type {string} */ word) =>
      texts.map((text) => text.toLowerCase().includes(word));
    const hits = words.map((word) => ({
      word,
      cases: has(index.cases.map((named) => `${named.title} ${named.id} ${named.model ?? ""}`), word),
      outcomes: has(index.outcomes.map((known) => known.label), word),
      stages: has(index.stages, word),
      reasons: has(index.reasons, word),
    }));
    const found = new Uint32Array(rows.length);
    let count = 0;
    for (let at = 0; at < rows.length; at += 1) {
      const row = rows[at];
      const failed = failedStage(row);
      if (outcome !== null && row[OUTCOME] !== outcome) continue;
      if (stage !== null && failed !== stage) continue;
      if (reason !== null && row[REASON] !== reason) continue;
      if (place !== null && row[CASE] !== place) continue;
      const fits = hits.every(
        (hit) =>
          (row[CASE] !== null && hit.cases[row[CASE]]) ||
          hit.outcomes[row[OUTCOME]] ||
          (failed >= 0 && hit.stages[failed]) ||
          (row[REASON] !== null && hit.reasons[row[REASON]]) ||
          row[ID].toLowerCase().startsWith(hit.word),
      );
      if (fits) found[count++] = at;
    }
    shown = found.subarray(0, count);
    sort();
    const output = form.querySelector("output");
    const unit = rows.length === 1 ? "trial" : "trials";
    if (output) output.textContent = count === rows.length ? `${rows.length} ${unit}` : `${count} of ${rows.length} ${unit} shown`;
    current = -1;
    box.scrollTop = 0;
    redraw();
  }

  function sort() {
    const value = {
      case: (/** @type {Row} */ row) => row[CASE] ?? Infinity,
      number: (/** @type {Row} */ row) => row[NUMBER],
      outcome: (/** @type {Row} */ row) => row[OUTCOME],
      stage: (/** @type {Row} */ row) => (failedStage(row) < 0 ? 6 : failedStage(row)) * 1000 + (row[REASON] ?? 999),
      duration: (/** @type {Row} */ row) => row[MS],
    }[order.key];
    if (!value) return;
    const keys = rows.map(value);
    const sign = order.down ? -1 : 1;
    // equal rows stay in the plan's order
    shown.sort((a, b) => sign * (keys[a] - keys[b]) || a - b);
  }

  function redraw() {
    first = last = -1;
    draw();
  }

  /** Draws the rows that can be seen, between two spaces for all others. */
  function draw() {
    if (!body || box.clientHeight === 0) return;
    const from = Math.max(0, Math.floor(box.scrollTop / ROW) - AROUND);
    const to = Math.min(shown.length, Math.ceil((box.scrollTop + box.clientHeight) / ROW) + AROUND);
    if (from === first && to === last) return;
    [first, last] = [from, to];
    const drawnRows = [space(from)];
    for (let at = from; at < to; at += 1) drawnRows.push(line(at));
    drawnRows.push(space(shown.length - to));
    body.replaceChildren(...drawnRows);
  }

  /** @param {number} count */
  function space(count) {
    const row = make("tr", "is-space");
    row.setAttribute("aria-hidden", "true");
    const cell = document.createElement("td");
    cell.colSpan = 6;
    cell.style.height = `${count * ROW}px`;
    row.append(cell);
    return row;
  }

  /** @param {number} at */
  function line(at) {
    const row = rows[shown[at]];
    const named = caseOf(row);
    const element = make("tr", at === current ? "is-trial is-current" : "is-trial");
    element.dataset.at = String(at);
    element.setAttribute("aria-rowindex", String(at + 2));
    const link = document.createElement("a");
    link.href = address(row);
    link.textContent = named ? named.title : row[ID];
    link.tabIndex = -1;
    const title = make("td");
    title.append(link);
    if (named?.model) title.append(" ", make("small", "", named.model));
    title.title = `${named?.title ?? ""} · ${row[ID]}`;
    const outcome = make("td");
    const badge = make("span", `badge ${index.outcomes[row[OUTCOME]].ink}`);
    badge.append(drawn(index.outcomes[row[OUTCOME]]), ` ${index.outcomes[row[OUTCOME]].label}`);
    outcome.append(badge);
    const why = whereAndWhy(row);
    const where = make("td", failedStage(row) < 0 ? "quiet-text" : "", why);
    where.title = why;
    element.append(title, make("td", "", String(row[NUMBER])), outcome, strip(row), where, make("td", "", duration(row[MS])));
    return element;
  }

  /** Says which stage failed first, else which was not measured, and why. @param {Row} row */
  function whereAndWhy(row) {
    const failed = failedStage(row);
    const stage = failed < 0 ? row[STRIP].indexOf("?") : failed;
    if (stage < 0) return "";
    const word = index.states.find((state) => state.code === row[STRIP][stage]);
    const reason = row[REASON] === null ? "" : ` · ${index.reasons[row[REASON]]}`;
    return failed < 0 ? `${index.stages[stage]} ${word?.label ?? ""}${reason}` : `${index.stages[stage]}${reason}`;
  }

  /** @param {Row} row */
  function strip(row) {
    const cell = make("td");
    const inner = make("span", "strip");
    if (row[STRIP] === "") inner.append("no chain to show");
    [...row[STRIP]].forEach((code, stage) => {
      const word = index.states.find((state) => state.code === code);
      if (!word) return;
      const one = make("span", "cell");
      const text = `${index.stages[stage]}: ${word.label}`;
      one.title = text;
      one.append(drawn(word), make("span", "aloud", `${text}. `));
      inner.append(one);
    });
    cell.append(inner);
    return cell;
  }

  /** @param {Row} row */
  const address = (row) => `#trial/${encodeURIComponent(row[ID])}`;

  /** Makes a row the current one. @param {number} at */
  function go(at) {
    if (shown.length === 0) return;
    current = Math.min(Math.max(at, 0), shown.length - 1);
    const top = current * ROW;
    const head = box.querySelector("thead")?.offsetHeight ?? ROW;
    if (top < box.scrollTop) box.scrollTop = top;
    const bottom = top + ROW + head - box.clientHeight;
    if (bottom > box.scrollTop) box.scrollTop = bottom;
    redraw();
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(box.clientHeight / ROW) - 2);
    /** @type {Record<string, number>} */
    const steps = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: page, PageUp: -page };
    if (event.key in steps) go(current < 0 ? 0 : current + steps[event.key]);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(shown.length - 1);
    else if (event.key === "Enter" && current >= 0 && event.target === box) location.hash = address(rows[shown[current]]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {MouseEvent} event */
  function onClick(event) {
    const target = event.target instanceof Element ? event.target : null;
    const heading = target?.closest("[data-sort]");
    if (heading instanceof HTMLElement) {
      const key = heading.dataset.sort ?? "";
      order = { key, down: order.key === key && !order.down };
      for (const th of box.querySelectorAll("th[aria-sort]")) th.removeAttribute("aria-sort");
      heading.closest("th")?.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      select();
      return;
    }
    const row = target?.closest("tr[data-at]");
    if (row instanceof HTMLElement && !target?.closest("a")) {
      go(Number(row.dataset.at));
      location.hash = address(rows[shown[current]]);
    }
  }

  // --- views -------------------------------------------------------------------

  /** The trial that is shown. */
  let opened = "";
  let scrolled = 0;

  /** @param {string} name */
  const view = (name) => /** @type {HTMLElement} */ (document.querySelector(`[data-view="${name}"]`));

  /** @param {"run" | "trial" | "glossary"} name */
  function show(name) {
    if (!view("run").hidden && name !== "run") scrolled = scrollY;
    for (const known of ["run", "trial", "glossary"]) view(known).hidden = known !== name;
    document.documentElement.classList.toggle("shows-trial", name === "trial");
    if (name !== "trial") opened = "";
  }

  /** Follows the address. */
  function route() {
    if (document.readyState === "loading") return;
    let hash = location.hash.slice(1);
    try {
      hash = decodeURIComponent(hash);
    } catch {
      // it then names nothing
    }
    if (hash.startsWith("trial/")) {
      void openTrial(hash.slice("trial/".length));
      return;
    }
    if (hash.startsWith("case/")) {
      show("run");
      openCase(hash.slice("case/".length));
      return;
    }
    const target = hash ? document.getElementById(hash) : null;
    if (target && opened && view("trial").contains(target)) {
      // a place on the page of the trial; the address stays the trial's
      history.replaceState(null, "", `#trial/${encodeURIComponent(opened)}`);
      return;
    }
    const inGlossary = target && view("glossary").contains(target);
    const back = view("run").hidden && hash === "run";
    show(inGlossary ? "glossary" : "run");
    if (back) scrollTo({ top: scrolled, behavior: "instant" });
    else if (target && hash !== "run") target.scrollIntoView();
  }

  /** Shows the trials of one case. @param {string} place */
  function openCase(place) {
    if (!form) return; // the table comes, and with it this again
    form.reset();
    const field = form.elements.namedItem("case");
    const named = index.cases[Number(place)];
    if (field instanceof HTMLSelectElement && !field.hidden) field.value = place;
    else if (named) /** @type {HTMLInputElement} */ (form.elements.namedItem("text")).value = named.id;
    select();
    document.getElementById("all-trials")?.scrollIntoView();
  }

  /** @param {string} id */
  async function openTrial(id) {
    if (opened === id) return;
    opened = id;
    show("trial");
    const place = view("trial").querySelector("[data-trial]");
    if (!place) return;
    place.replaceChildren();
    await ready.catch(() => {});
    if (opened !== id) return;
    const at = placeOf(id);
    if (at === undefined) {
      place.replaceChildren(make("p", "absent", `This file has no trial ${id}.`));
      return;
    }
    try {
      const row = rows[at];
      const markup = (await pages(row[BLOCK]))[row[ITEM]];
      if (opened !== id) return;
      place.replaceChildren(inert(markup));
    } catch (error) {
      place.replaceChildren(make("p", "absent", `The page of trial ${id} cannot be unpacked: ${error}`));
    }
    neighbours(at);
    scrollTo({ top: 0, behavior: "instant" });
    document.getElementById("main")?.focus({ preventScroll: true });
  }

  /** Links the trials before and after, as the table has them. @param {number} at */
  function neighbours(at) {
    const here = shown.indexOf(at);
    for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (view("trial").querySelectorAll("a[data-step]"))) {
      const next = here < 0 ? undefined : shown[here + Number(link.dataset.step)];
      link.hidden = next === undefined;
      if (next !== undefined) link.href = address(rows[next]);
    }
    if (here >= 0) go(here);
  }

  /** Goes to a place on the page of the trial, whose address stays. @param {MouseEvent} event */
  function onPlace(event) {
    if (event.ctrlKey || event.metaKey || event.shiftKey || !(event.target instanceof Element)) return;
    const link = event.target.closest("[data-trial] a[href^='#']");
    const id = link?.getAttribute("href")?.slice(1);
    const place = id ? document.getElementById(id) : null;
    if (!place || !view("trial").contains(place)) return;
    event.preventDefault();
    for (let around = place.closest("details"); around; around = around.parentElement?.closest("details") ?? null) {
      around.open = true;
    }
    place.scrollIntoView({ block: "center" });
  }

  document.addEventListener("click", onPlace);
  addEventListener("hashchange", route);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !opened || document.querySelector("dialog[open]")) return;
    if (event.target instanceof HTMLInputElement) return;
    location.hash = "#run";
  });
})();
