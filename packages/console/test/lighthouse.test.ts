import assert from "node:assert/strict";
import { test } from "node:test";
import { ENGINE } from "../../server/test/support/database.ts";
import { sized } from "../../server/test/support/extent.ts";
import { startPlatform } from "../../server/test/support/platform.ts";
import { freePort } from "../../server/test/support/unused-port.ts";
import { needs, openProfile, signIn } from "./support/console.ts";
import { lacksLighthouse, MAIN_PAGES, openLighthouse } from "./support/lighthouse.ts";
import { placesOf, routePaths } from "./support/routes.ts";

const CATEGORIES = ["accessibility", "best-practices"];

const OPTIONS = {
  timeout: 900_000,
  skip:
    ENGINE === "postgres"
      ? "the pages are those of SQLite: MOORAGE_TEST_ENGINES=sqlite npm test -- lighthouse"
      : lacksLighthouse(),
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
  const { audit } = await openLighthouse(port, CATEGORIES);
  const wrong: string[] = [];
  const all = new Set(["/", ...routePaths()]);
  assert.deepEqual(
    MAIN_PAGES.filter((path) => !all.has(path)),
    [],
  );
  for (const path of sized(MAIN_PAGES, [...all])) {
    const { categories, audits } = await audit(platform.url + path + (places[path] ?? ""));
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
