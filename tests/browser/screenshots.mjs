// Takes the screenshots below docs/images again:
//
//   npm run screenshots --prefix tests/browser

import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { openBrowser, projectWithRuns, serve, watchedPage } from "./support.mjs";

const images = resolve(dirname(fileURLToPath(import.meta.url)), "../../docs/images");

const project = await projectWithRuns();
const browser = await openBrowser();
const site = await serve(project.home);
try {
  await mkdir(images, { recursive: true });
  const trials = await (await fetch(`${site.address}/api/v1/runs/${project.firstRun}/trials`)).json();
  const failed = trials.trials.find((trial) => trial.caseId === "refunds" && trial.result === "failed");
  const pages = {
    run: `/runs/${project.firstRun}`,
    trial: `/trials/${failed.trialId}`,
    compare: `/compare?base=${project.firstRun}&compared=${project.secondRun}`,
    runs: "/runs",
  };
  for (const colorScheme of ["light", "dark"]) {
    const { page, close } = await watchedPage(browser, {
      colorScheme,
      viewport: { width: 1280, height: 860 },
    });
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(site.address + path, { waitUntil: "networkidle" });
      await page.screenshot({ path: join(images, `${name}-${colorScheme}.png`) });
    }
    await close();
  }
} finally {
  await site.stop();
  await browser.close();
  await project.remove();
}
