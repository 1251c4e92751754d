// The live pages of `strandline ui`.

import assert from "node:assert/strict";
import http from "node:http";
import { after, before, test } from "node:test";
import { assertCalm, hostile, openBrowser, projectWithRuns, serve, watchedPage } from "./support.mjs";

let browser, project, site;

before(async () => {
  [browser, project] = await Promise.all([openBrowser(), projectWithRuns()]);
  site = await serve(project.home);
});

after(async () => {
  await browser?.close();
  assert.equal(await site?.stop(), 0, "it ends on Ctrl-C");
  await project?.remove();
});

async function open(path, options) {
  const watched = await watchedPage(browser, options);
  const answer = await watched.page.goto(site.address + path);
  assert.equal(answer.status(), 200, path);
  return watched;
}

// Answers to a request whose headers a browser would not let a page choose.
function ask(path, { method = "GET", headers = {}, body } = {}) {
  return new Promise((answered, failed) => {
    const request = http.request(site.address + path, { method, headers }, (answer) => {
      let text = "";
      answer.on("data", (chunk) => (text += chunk));
      answer.on("end", () => answered({ status: answer.statusCode, headers: answer.headers, text }));
    });
    request.on("error", failed);
    request.end(body);
  });
}

test("from the list of runs to the verdict, and from the verdict to the evidence", async () => {
  const watched = await open("/runs");
  const { page } = watched;
  await page.getByRole("link", { name: "Order desk" }).first().click();
  await page.waitForURL(/\/(runs|suites)\//);
  await page.goto(`${site.address}/runs/${project.firstRun}`);
  const run = await page.getByRole("main").innerText();
  assert.match(run, /failed/i);
  assert.match(run, /\d+ of \d+ configured trials attempted/);
  assert.match(run, /stopped at tool call/i);

  await page.locator("article.group a[href^='/trials/']").first().click();
  await page.waitForURL(/\/trials\//);
  const trial = await page.getByRole("main").innerText();
  for (const stage of ["Connection", "Discovery", "Selection", "Tool call", "Response", "User value"]) {
    assert.ok(trial.includes(stage), `the trial says nothing about ${stage}`);
  }
  await page.locator("a[data-marks]").first().click();
  await page.waitForSelector(".is-marked");
  assert.ok(await page.locator(".is-marked").first().isVisible(), "the cited evidence is marked and seen");
  await assertCalm(assert, watched);
  await watched.close();
});

test("cases are filtered by text and by verdict", async () => {
  const watched = await open(`/runs/${project.firstRun}`);
  const { page } = watched;
  const rows = page.locator("table.cases tr[data-row]:visible");
  const all = await rows.count();
  await page.getByLabel("Filter by text").fill("looks an order up");
  assert.equal(await rows.count(), 1);
  assert.match(await page.locator("form.filter output").first().innerText(), new RegExp(`1 of ${all} case variants`));
  await page.getByLabel("Filter by text").fill("");
  await page.getByLabel("Filter by verdict").selectOption("failed");
  const failed = await rows.count();
  assert.ok(failed > 0 && failed < all, `${failed} of ${all} failed`);
  await watched.close();
});

test("pages are worked by keyboard", async () => {
  const watched = await open(`/runs/${project.firstRun}`);
  const { page } = watched;
  await page.keyboard.press("?");
  assert.ok(await page.locator("dialog#keys").isVisible(), "? shows the keys");
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("type")), "search");
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  assert.equal(await page.locator(".is-current").count(), 1);
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.pathname !== `/runs/${project.firstRun}`);
  await assertCalm(assert, watched);
  await watched.close();
});

test("a word explains itself, and the theme is kept", async () => {
  const watched = await open(`/runs/${project.firstRun}`);
  const { page } = watched;
  const word = page.locator("main a.term").first();
  const meaning = await word.getAttribute("title");
  await word.click();
  assert.ok(await page.getByText(meaning, { exact: false }).first().isVisible(), "the meaning is shown");
  await page.keyboard.press("Escape");
  const colours = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const toggle = page.locator("[data-theme-toggle]");
  await toggle.click();
  const light = await colours();
  await toggle.click();
  const dark = await colours();
  assert.notEqual(light, dark);
  await page.reload();
  assert.equal(await colours(), dark);
  await watched.close();
});

test("two releases of a server are compared", async () => {
  const watched = await open(`/compare?base=${project.firstRun}&compared=${project.secondRun}`);
  const text = await watched.page.getByRole("main").innerText();
  assert.match(text, /Order desk/);
  assert.match(text, /points|not comparable/);
  await assertCalm(assert, watched);
  await watched.close();
});

test("hostile text stays text on every page", async () => {
  const watched = await open(`/runs/${project.hostileRun}`);
  const { page } = watched;
  assert.ok((await page.getByRole("main").innerText()).includes(hostile));
  await assertCalm(assert, watched);
  await page.locator("article.group a[href^='/trials/']").first().click();
  await page.waitForURL(/\/trials\//);
  assert.ok((await page.getByRole("main").innerText()).includes(hostile));
  await assertCalm(assert, watched);
  for (const path of ["/runs", "/suites", `/runs/${project.hostileRun}/trials`, `/runs/${project.hostileRun}/friction`]) {
    await page.goto(site.address + path);
    await assertCalm(assert, watched);
  }
  await watched.close();
});

test("pages are readable without script", async () => {
  const watched = await open(`/runs/${project.firstRun}`, { javaScriptEnabled: false });
  const text = await watched.page.getByRole("main").innerText();
  assert.match(text, /Looks an order up/);
  assert.match(text, /stopped at/i);
  await watched.close();
});

test("a run is started from the page and followed to its end", async () => {
  const watched = await open("/suites");
  const { page } = watched;
  await page.getByRole("link", { name: /slow\.yaml|Slow/ }).first().click();
  const form = await page.getByRole("main").innerText();
  assert.match(form, /strandline-echo-mcp/, "it says first what would be started");
  await page.getByRole("button", { name: "Start the run" }).click();
  await page.waitForURL(/\/runs\//);
  const live = page.locator("[data-live]");
  await live.waitFor();
  await page.waitForFunction(() => /[1-9]\d* of 6 configured trials/.test(document.querySelector("[data-live-text]")?.textContent ?? ""));
  await page.waitForFunction(() => !document.querySelector("[data-live]"), undefined, { timeout: 60_000 });
  assert.match(await page.getByRole("main").innerText(), /passed/i);
  await assertCalm(assert, watched);
  await watched.close();
});

test("foreign hosts, foreign origins and callers without the token are refused", async () => {
  const rebound = await ask("/api/v1/runs", { headers: { host: "attacker.example" } });
  assert.ok([400, 403, 421].includes(rebound.status), `a foreign Host got ${rebound.status}`);
  const json = { "content-type": "application/json" };
  const body = JSON.stringify({ path: "slow.yaml" });
  const start = (headers) => ask("/api/v1/runs", { method: "POST", headers: { ...json, ...headers }, body });
  const foreign = await start({ origin: "http://attacker.example" });
  assert.equal(foreign.status, 403);
  const bare = await start({});
  assert.ok([401, 403].includes(bare.status), `no token got ${bare.status}`);
  const answer = await ask("/runs");
  assert.equal(answer.headers["access-control-allow-origin"], undefined);
  const policy = answer.headers["content-security-policy"];
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe/);
  assert.match(policy, /frame-ancestors 'none'/);
});

test("a suite over time is a table and a chart", async () => {
  const watched = await open("/runs");
  const { page } = watched;
  await page.goto(`${site.address}/suites/s_example_orders/trend`);
  const text = await page.getByRole("main").innerText();
  assert.match(text, /4 of 9 case variants|of 37/);
  await page.locator(".uplot canvas").first().waitFor();
  await assertCalm(assert, watched);
  await watched.close();
});
