import assert from "node:assert/strict";
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { ENGINE } from "../../server/test/support/database.ts";
import { sized } from "../../server/test/support/extent.ts";
import { startPlatform } from "../../server/test/support/platform.ts";
import { freePort } from "../../server/test/support/unused-port.ts";
import { needs, openProfile, signIn } from "./support/console.ts";
import { placesOf, routePaths } from "./support/routes.ts";

// Lighthouse is too large for a dev dependency: .ci/tools.sh installs it.
const PROGRAM = join(import.meta.dirname, "../../../build/tools/lighthouse");
// A page for each of what the console is for; all routes are a quarter of an hour on two processors.
const MAIN = [
  "/",
  "/repo",
  "/tag",
  "/image",
  "/vulnerability",
  "/access/group",
  "/repo/settings",
  "/events",
  "/sessions",
];
const MAX_LOAD_MS = 10_000;
const CATEGORIES = ["accessibility", "best-practices"];

interface Report {
  lhr: {
    categories: Record<string, { score: number | null; auditRefs: { id: string; weight: number }[] }>;
    audits: Record<string, { score: number | null; title: string; details?: unknown }>;
  };
}
type Lighthouse = (url: string, flags: object) => Promise<Report | undefined>;

const OPTIONS = {
  timeout: 900_000,
  skip:
    ENGINE === "postgres"
      ? "the pages are those of SQLite: MOORAGE_TEST_ENGINES=sqlite npm test -- lighthouse"
      : !existsSync(PROGRAM) && "Lighthouse is not installed: .ci/tools.sh lighthouse",
};

test("Lighthouse gives accessibility and best practices 100", OPTIONS, async (t) => {
  const platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  t.after(() => platform.close());
  const port = await freePort();
  const context = needs(t, await openProfile(platform.url, [`--remote-debugging-port=${port}`]));
  if (context === undefined) return;
  t.after(() => context.close());
  const places = await placesOf(platform);
  await signIn(await context.newPage(), await platform.token());
  // Beside the program, which is in cli/.
  const code = join(dirname(realpathSync(PROGRAM)), "../core/index.js");
  const { default: lighthouse } = (await import(pathToFileURL(code).href)) as { default: Lighthouse };
  const wrong: string[] = [];
  const all = new Set(["/", ...routePaths()]);
  assert.deepEqual(
    MAIN.filter((path) => !all.has(path)),
    [],
  );
  for (const path of sized(MAIN, [...all])) {
    const url = platform.url + path + (places[path] ?? "");
    const report = await lighthouse(url, {
      port,
      output: "json",
      logLevel: "error",
      onlyCategories: CATEGORIES,
      disableStorageReset: true,
      formFactor: "desktop",
      screenEmulation: { disabled: true },
      throttlingMethod: "provided",
      disableFullPageScreenshot: true,
      // Pages with events as they happen are never without a request.
      maxWaitForLoad: MAX_LOAD_MS,
    });
    if (report === undefined) assert.fail(`${path}: no report`);
    const { categories, audits } = report.lhr;
    for (const name of CATEGORIES) {
      const { score, auditRefs } = categories[name] ?? { score: null, auditRefs: [] };
      if (score === 1) continue;
      const failed = auditRefs.filter(({ id, weight }) => weight > 0 && (audits[id]?.score ?? 1) < 1);
      const why = failed.map(({ id }) => `${id}: ${JSON.stringify(audits[id]?.details ?? "").slice(0, 800)}`);
      wrong.push(`${path}: ${name} ${score}: ${why.join("; ")}`);
    }
  }
  assert.deepEqual(wrong, []);
});
