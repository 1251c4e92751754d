// Opens a single-file report in a browser that is installed here and says how
// long it takes until it is painted, until the table can be used, and until a
// filter, a sort and a trial are shown.
//
//   node bench/file.mjs FILE      (with playwright-core where node finds it)
import { createRequire } from "node:module";
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(resolve(process.env.PLAYWRIGHT_FROM ?? process.cwd(), "package.json"));
const { chromium } = require("playwright-core");
const file = resolve(process.argv[2]);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
const page = await browser.newPage();
const complaints = [];
page.on("console", (message) => {
  if (["error", "warning"].includes(message.type())) complaints.push(message.text());
});
page.on("pageerror", (error) => complaints.push(String(error)));
page.on("dialog", (dialog) => {
  complaints.push(`a dialog: ${dialog.message()}`);
  void dialog.dismiss();
});

/** Runs something and waits until the frame after it is drawn. */
const timed = (what) =>
  page.evaluate(async (what) => {
    const begun = performance.now();
    const form = document.querySelector("form[data-trials]");
    const search = form.elements.namedItem("text");
    const type = (text) => {
      search.value = text;
      search.dispatchEvent(new Event("input", { bubbles: true }));
    };
    if (what === "filter") type("tool call");
    if (what === "all") type("");
    if (what === "sort") document.querySelector("[data-sort=duration]").click();
    if (what === "open") {
      location.hash = document.querySelector("tr[data-at] a").getAttribute("href");
      while (!document.querySelector("[data-trial] h1")) await new Promise((next) => setTimeout(next, 1));
    }
    await new Promise((next) => requestAnimationFrame(() => setTimeout(next)));
    return performance.now() - begun;
  }, what);

const whole = Date.now();
await page.goto(pathToFileURL(file).href, { waitUntil: "commit" });
await page.waitForSelector("tr.is-trial", { timeout: 120_000 });
const usable = Date.now() - whole;
const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
const shown = () => page.locator("form[data-trials] output").textContent();
console.log(`${(statSync(file).size / 2 ** 20).toFixed(1)} MiB; ${await shown()}`);
console.log(`first contentful paint ${paint?.toFixed(0)} ms; table usable ${usable} ms`);
console.log(`filter ${(await timed("filter")).toFixed(0)} ms (${await shown()})`);
await timed("all");
console.log(`sort ${(await timed("sort")).toFixed(0)} ms`);
console.log(`open a trial ${(await timed("open")).toFixed(0)} ms`);
const heap = await page.evaluate(() => performance.memory?.usedJSHeapSize);
if (heap) console.log(`script heap ${(heap / 2 ** 20).toFixed(0)} MiB`);
await browser.close();
if (complaints.length > 0) {
  console.error(complaints.join("\n"));
  process.exit(1);
}
