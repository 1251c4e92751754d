// What the browser tests share: the product, a store with runs in it, and
// headless Chromium.

import { spawn, execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const target = resolve(root, process.env.CARGO_TARGET_DIR ?? "target");
export const binary = process.env.STRANDLINE_BIN ?? join(target, "debug/strandline");
const programs = dirname(binary);

// Text that would run if it were ever taken for markup, script or attribute.
export const hostile = `</script><img src=x onerror="window.pwned=1">"'><svg onload=window.pwned=2>`;

// Finds the browser: the one named, else where systems put it.
export function browserPath() {
  const places = [
    process.env.STRANDLINE_CHROMIUM,
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
  ];
  const found = places.find((place) => place && existsSync(place));
  if (!found) {
    throw new Error("no Chromium: install the package `chromium`, or name one with STRANDLINE_CHROMIUM");
  }
  return found;
}

export async function openBrowser() {
  return chromium.launch({
    executablePath: browserPath(),
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

// Runs the product; resolves with its output whatever its exit code is.
export function strandline(home, ...args) {
  const env = { ...process.env, NO_COLOR: "1", TZ: "UTC" };
  delete env.STRANDLINE_STORE;
  return new Promise((done) => {
    execFile(binary, args, { cwd: home, env, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      done({ stdout, stderr, code: error ? error.code : 0 });
    });
  });
}

// A directory with three runs: the example suite on two releases of the demo
// server, and a suite whose every text is hostile; and with a suite that was
// not run, slow enough to be watched.
export async function projectWithRuns() {
  const home = await mkdtemp(join(tmpdir(), "strandline-browser-"));
  const suite = join(root, "examples/orders.yaml");
  for (const release of ["1", "2"]) {
    const command = `${binary} demo-server --release ${release}`;
    const ran = await strandline(home, "run", suite, "--quiet", "--command", command);
    if (ran.code !== 1) throw new Error(`the example suite ended with ${ran.code}: ${ran.stderr}`);
  }
  await writeFile(join(home, "slow.yaml"), slowSuite());
  await writeFile(join(home, "hostile.yaml"), hostileSuite());
  const ran = await strandline(home, "run", "hostile.yaml", "--quiet");
  if (ran.code !== 1) throw new Error(`the hostile suite ended with ${ran.code}: ${ran.stderr}`);
  const listed = JSON.parse((await strandline(home, "runs", "--json")).stdout);
  const ids = listed.runs.map((run) => run.runId);
  return {
    home,
    hostileRun: ids[0],
    secondRun: ids[1],
    firstRun: ids[2],
    remove: () => rm(home, { recursive: true, force: true }),
  };
}

// A suite on the echo server.
function suiteOf(id, name, iterations, cases) {
  return JSON.stringify({
    schemaVersion: "2",
    mode: "agentWorkflow",
    reportingMode: "standard",
    suite: { id, name, description: name },
    target: { servers: [{ name: "echo" }] },
    mcpServers: { echo: { command: join(programs, "strandline-echo-mcp") } },
    defaults: { model: "scripted/browser", iterations, passThreshold: 1, validity: {} },
    execution: { concurrency: 1 },
    cases,
  });
}

function slowSuite() {
  return suiteOf("s_slow", "Slow", 6, [
    {
      id: "waits",
      title: "Takes its time",
      steps: [{ id: "ask", kind: "prompt", prompt: "Repeat hello" }],
      assertions: [{ type: "responseContains", needle: "hello" }],
      script: [{ call: [{ tool: "echo", arguments: { text: "hello" } }], delayMs: 400 }, { say: "hello" }],
    },
  ]);
}

function hostileSuite() {
  return suiteOf("s_hostile", hostile, 2, [
    {
      id: "hostile",
      title: hostile,
      intent: `<img src=x onerror="window.pwned=3">`,
      steps: [
        { id: "ask", kind: "prompt", prompt: hostile },
        {
          id: "called",
          kind: "assert",
          assertion: { type: "toolCalledWith", toolName: "echo", args: { args: { text: "something else" } } },
        },
      ],
      assertions: [{ type: "responseContains", needle: `${hostile} missing` }],
      script: [{ call: [{ tool: "echo", arguments: { text: hostile, [hostile]: hostile } }] }, { say: hostile }],
    },
  ]);
}

// Serves a project's pages; resolves with their address once they answer.
export async function serve(home, ...args) {
  const env = { ...process.env };
  delete env.STRANDLINE_STORE;
  delete env.STRANDLINE_TOKEN;
  const server = spawn(binary, ["ui", "--listen", "127.0.0.1:0", ...args], { cwd: home, env });
  let stderr = "";
  server.stderr.on("data", (chunk) => (stderr += chunk));
  const address = await new Promise((found, failed) => {
    createInterface({ input: server.stdout }).on("line", (line) => {
      const address = line.match(/http:\/\/[^\s]+/);
      if (address) found(address[0].replace(/\/$/, ""));
    });
    server.on("exit", (code) => failed(new Error(`strandline ui ended with ${code}: ${stderr}`)));
  });
  return {
    address,
    stop: () =>
      new Promise((stopped) => {
        server.once("exit", (code) => stopped(code));
        server.kill("SIGINT");
      }),
  };
}

// A page that notes what must never happen on it: a dialog, an error, a request
// that leaves its origin, a breach of its content security policy.
export async function watchedPage(browser, options = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const trouble = [];
  page.on("dialog", (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("pageerror", (error) => trouble.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") trouble.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const url = new URL(request.url());
    const here = ["127.0.0.1", "localhost"].includes(url.hostname);
    if (!here && !["file:", "data:", "blob:", "about:"].includes(url.protocol)) {
      trouble.push(`request to ${request.url()}`);
    }
  });
  return { page, trouble, close: () => context.close() };
}

// Fails when hostile text ran, or when anything else went wrong on a page.
export async function assertCalm(assert, watched) {
  assert.equal(await watched.page.evaluate(() => window.pwned), undefined, "hostile text ran");
  assert.equal(await watched.page.locator("img[src='x'], svg[onload]").count(), 0, "hostile text became an element");
  assert.deepEqual(watched.trouble, []);
}
