/**
 * Behaviour of every Strandline page. Pages are readable without it.
 *
 * A classic script in the head, so that the theme is right before anything is
 * drawn. Events are handled at the document: what is added later just works.
 *
 * Elements say what they do:
 *   data-theme-toggle, data-keys-open   buttons of the header
 *   a.term                              a word; its title is its meaning
 *   data-row                            a row of j and k; its first link opens it
 *   data-filter="ID"                    a form that filters the rows below #ID
 *   a[data-marks="ID ID …"]             evidence: marks all these elements
 *   data-live="URL"                     a run that is going on
 */
"use strict";
(() => {
  const THEMES = ["auto", "light", "dark"];
  const THEME_KEY = "strandline-theme";
  const root = document.documentElement;

  // --- theme -------------------------------------------------------------

  /** @returns {string} */
  function storedTheme() {
    try {
      const theme = localStorage.getItem(THEME_KEY) ?? "auto";
      return THEMES.includes(theme) ? theme : "auto";
    } catch {
      return "auto"; // storage can be forbidden, as for some local files
    }
  }

  /** @param {string} theme */
  function applyTheme(theme) {
    root.dataset.theme = theme;
    const button = document.querySelector("[data-theme-toggle]");
    if (button) button.textContent = theme;
  }

  function nextTheme() {
    const at = THEMES.indexOf(root.dataset.theme ?? "auto");
    const theme = THEMES[(at + 1) % THEMES.length];
    applyTheme(theme);
    try {
      localStorage.setItem(THEME_KEY, theme);
    } catch {
      // it holds for this page
    }
  }

  applyTheme(storedTheme());

  // --- words -------------------------------------------------------------

  /** @type {HTMLElement | undefined} */
  let note;

  /** Shows what a word means, below the word. @param {HTMLAnchorElement} word */
  function explain(word) {
    note ??= document.body.appendChild(document.createElement("div"));
    note.className = "note";
    note.popover = "auto";
    const kind = document.createElement("small");
    kind.textContent = word.dataset.vocabulary ?? "";
    const label = document.createElement("strong");
    label.textContent = word.textContent;
    const meaning = document.createElement("p");
    meaning.textContent = word.title;
    const more = document.createElement("a");
    more.href = word.href;
    more.textContent = "in the glossary";
    note.replaceChildren(kind, label, meaning, more);
    note.showPopover();
    const place = word.getBoundingClientRect();
    const left = Math.min(place.left, innerWidth - note.offsetWidth - 12);
    const below = place.bottom + 6 + note.offsetHeight < innerHeight;
    note.style.left = `${Math.max(12, left) + scrollX}px`;
    note.style.top = `${(below ? place.bottom + 6 : place.top - note.offsetHeight - 6) + scrollY}px`;
  }

  // --- rows --------------------------------------------------------------

  /** Moves to the next or the previous row that is shown. @param {1 | -1} step */
  function move(step) {
    const rows = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-row]")]).filter(
      (row) => row.checkVisibility(),
    );
    if (rows.length === 0) return;
    const now = rows.findIndex((row) => row.classList.contains("is-current"));
    const next = now < 0 ? (step > 0 ? 0 : rows.length - 1) : now + step;
    const row = rows[Math.min(Math.max(next, 0), rows.length - 1)];
    rows[now]?.classList.remove("is-current");
    row.classList.add("is-current");
    const link = row.matches("a, summary") ? row : row.querySelector("a:not(.term), summary");
    if (link instanceof HTMLElement) link.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }

  // --- filters -----------------------------------------------------------

  /** Shows the rows that hold every word typed and the chosen verdict. @param {HTMLFormElement} form */
  function filter(form) {
    const scope = document.getElementById(form.dataset.filter ?? "");
    if (!scope) return;
    const fields = new FormData(form);
    const words = String(fields.get("text") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const verdict = String(fields.get("verdict") ?? "");
    const rows = /** @type {HTMLElement[]} */ ([...scope.querySelectorAll("[data-row]")]);
    let shown = 0;
    for (const row of rows) {
      const text = (row.textContent ?? "").toLowerCase();
      const fits =
        words.every((word) => text.includes(word)) && (!verdict || row.dataset.verdict === verdict);
      row.hidden = !fits;
      if (fits) shown += 1;
    }
    const output = form.querySelector("output");
    if (output) {
      output.textContent =
        shown === rows.length ? "" : `${shown} of ${rows.length} ${form.dataset.unit ?? "rows"} shown`;
    }
  }

  // --- evidence ----------------------------------------------------------

  /** Marks everything that a link cites. @param {HTMLAnchorElement} link */
  function markEvidence(link) {
    for (const marked of document.querySelectorAll(".is-marked")) marked.classList.remove("is-marked");
    const ids = (link.dataset.marks ?? "").split(" ").filter(Boolean);
    const cited = ids.flatMap((id) => document.getElementById(id) ?? []);
    for (const element of cited) {
      element.classList.add("is-marked");
      element.closest("details")?.setAttribute("open", "");
    }
    cited[0]?.scrollIntoView({ block: "center" });
  }

  // --- a run that is going on ---------------------------------------------

  /**
   * @typedef {{attempted: number, configured: number, passed: number, failed: number,
   *   notGraded: number}} Progress
   * @typedef {{trialId: string, title: string, iterationNumber: number, result?: string,
   *   evaluatorError?: boolean, startedAt: number, endedAt: number}} Trial
   */

  /** Trials that are listed while a run is going on, the last ones. */
  const LISTED = 8;

  /** @param {number} count @param {string} one @param {string} many */
  const counted = (count, one, many) => `${count} ${count === 1 ? one : many}`;

  /** @param {number} milliseconds */
  function duration(milliseconds) {
    const seconds = Math.max(0, Math.floor(milliseconds / 1000));
    if (seconds < 1) return `${Math.max(0, Math.round(milliseconds))} ms`;
    if (seconds < 120) return `${seconds} s`;
    return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  }

  /** @param {HTMLElement} live @param {Progress} progress */
  function showProgress(live, progress) {
    const bar = live.querySelector("progress");
    if (bar) {
      bar.max = Math.max(1, progress.configured);
      bar.value = progress.attempted;
    }
    const text = live.querySelector("[data-live-text]");
    if (text) {
      text.textContent = [
        `${progress.attempted} of ${counted(progress.configured, "configured trial", "configured trials")} attempted`,
        `${progress.passed} passed`,
        `${progress.failed} failed`,
        `${progress.notGraded} not graded`,
      ].join(" · ");
    }
  }

  /** Lists a trial that has just ended. @param {HTMLElement} live @param {Trial} trial */
  function showTrial(live, trial) {
    const list = live.querySelector("[data-live-trials]");
    if (!list) return;
    const link = document.createElement("a");
    link.href = (live.dataset.liveTrial ?? "").replace("TRIAL", encodeURIComponent(trial.trialId));
    link.textContent = `trial ${trial.iterationNumber + 1}`;
    const title = document.createElement("bdi");
    title.textContent = trial.title.slice(0, 200);
    const result = trial.evaluatorError ? "not graded" : (trial.result ?? "not graded");
    const text = document.createElement("span");
    text.textContent = `${result} · ${duration(trial.endedAt - trial.startedAt)}`;
    const item = document.createElement("li");
    item.append(link, title, text);
    list.prepend(item);
    while (list.children.length > LISTED) list.lastElementChild?.remove();
  }

  /** @param {HTMLElement} live */
  function follow(live) {
    const events = new EventSource(live.dataset.live ?? "");
    events.addEventListener("progress", (event) => {
      showProgress(live, JSON.parse(/** @type {MessageEvent} */ (event).data));
    });
    events.addEventListener("trial", (event) => {
      showTrial(live, JSON.parse(/** @type {MessageEvent} */ (event).data));
    });
    events.addEventListener("end", () => {
      events.close();
      location.reload();
    });
  }

  // --- the document -------------------------------------------------------

  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    if (!target || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const word = target.closest("a.term");
    if (word instanceof HTMLAnchorElement) {
      event.preventDefault();
      explain(word);
      return;
    }
    const evidence = target.closest("a[data-marks]");
    if (evidence instanceof HTMLAnchorElement) {
      // after the browser has followed the fragment
      setTimeout(() => markEvidence(evidence));
      return;
    }
    if (target.closest("[data-theme-toggle]")) nextTheme();
    if (target.closest("[data-keys-open]")) openKeys();
  });

  for (const kind of ["input", "change"]) {
    document.addEventListener(kind, (event) => {
      const field = event.target instanceof Element ? event.target : null;
      const form = field?.closest("form[data-filter]");
      if (form instanceof HTMLFormElement) filter(form);
    });
  }

  document.addEventListener("submit", (event) => {
    if (event.target instanceof Element && event.target.matches("form[data-filter]")) event.preventDefault();
  });

  function openKeys() {
    const keys = document.getElementById("keys");
    if (keys instanceof HTMLDialogElement && !keys.open) keys.showModal();
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target;
    if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) {
      if (event.key === "Escape") target.blur();
      return;
    }
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
    else if (event.key === "?") openKeys();
    else if (event.key === "/") {
      const fields = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("input[type=search]")]);
      const field = fields.find((candidate) => candidate.checkVisibility());
      if (!field) return;
      field.focus();
    } else return;
    event.preventDefault();
  });

  document.addEventListener("DOMContentLoaded", () => {
    // what needs the script is hidden until the script is there
    const controls = /** @type {NodeListOf<HTMLElement>} */ (
      document.querySelectorAll("[data-theme-toggle], [data-keys-open], form[data-filter]")
    );
    for (const control of controls) control.hidden = false;
    applyTheme(storedTheme());
    for (const live of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-live]"))) follow(live);
  });
})();
