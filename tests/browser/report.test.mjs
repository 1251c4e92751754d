// The single HTML file: opened from disk, without a network.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import { assertCalm, hostile, openBrowser, projectWithRuns, strandline, watchedPage } from "./support.mjs";

let browser, project;
const files = {};

before(async () => {
  [browser, project] = await Promise.all([openBrowser(), projectWithRuns()]);
  for (const run of ["firstRun", "hostileRun"]) {
    files[run] = join(project.home, `${run}.html`);
    const ran = await strandline(project.home, "report", project[run], "--format", "html", "--output", files[run]);
    assert.equal(ran.code, 0, ran.stderr);
  }
});

after(async () => {
  await browser?.close();
  await project?.remove();
});

async function open(run, options) {
  const watched = await watchedPage(browser, { offline: true, ...options });
  await watched.page.goto(pathToFileURL(files[run]).href);
  return watched;
}

test("the file says first what was decided", async () => {
  const watched = await open("firstRun");
  const { page } = watched;
  assert.match(await page.title(), /Order desk/);
  const main = page.getByRole("main");
  assert.match(await main.innerText(), /failed/i);
  assert.match(await main.innerText(), /configured trials attempted/);
  await assertCalm(assert, watched);
  await watched.close();
});

test("the file forbids itself every network, and says so to the browser", async () => {
  const text = await readFile(files.firstRun, "utf8");
  const policy = text.match(/http-equiv="Content-Security-Policy" content="([^"]+)"/i)?.[1] ?? "";
  assert.match(policy, /default-src (&#39;|')none/);
  assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval/);
  assert.doesNotMatch(text, /(src|href)="https?:/);
});

test("hostile text stays text in the file", async () => {
  const watched = await open("hostileRun");
  const { page } = watched;
  assert.ok((await page.getByRole("main").innerText()).includes(hostile), "the title is shown as it is");
  await assertCalm(assert, watched);
  await watched.close();
});

test("the file is readable without script", async () => {
  const watched = await open("firstRun", { javaScriptEnabled: false });
  const { page } = watched;
  const text = await page.getByRole("main").innerText();
  assert.match(text, /Looks an order up/);
  assert.match(text, /stopped at/i);
  await watched.close();
});

test("trials are found, opened, and their evidence followed", async () => {
  const watched = await open("firstRun");
  const { page } = watched;
  const form = page.locator("form[data-trials]");
  const shown = form.locator("output");
  assert.match(await shown.innerText(), /^37 trials/);
  await form.getByLabel("outcome").selectOption({ label: "failed" });
  assert.match(await shown.innerText(), /^18 of 37 trials/);
  await form.getByLabel("Search trials").fill("late order");
  assert.match(await shown.innerText(), /^4 of 37 trials/);
  await page.locator("[data-rows] tr[data-at]").first().click();
  const trial = page.locator("[data-view=trial]");
  await trial.locator("a[data-marks]").first().waitFor();
  const text = await trial.innerText();
  assert.match(text, /Refunds a late order/);
  assert.match(text, /amount expected 40, got "40\.00"/);
  await trial.locator("a[data-marks]").first().click();
  await page.waitForSelector(".is-marked");
  await page.keyboard.press("Escape");
  await page.locator("#all-trials").waitFor();
  await assertCalm(assert, watched);
  await watched.close();
});

test("hostile text stays text in a trial of the file", async () => {
  const watched = await open("hostileRun");
  const { page } = watched;
  await page.locator("[data-rows] tr[data-at]").first().click();
  const trial = page.locator("[data-view=trial]");
  await trial.locator("a[data-marks]").first().waitFor();
  assert.ok((await trial.innerText()).includes(hostile));
  await assertCalm(assert, watched);
  await watched.close();
});
