// npm run console:lighthouse [-- --runs=3]: the performance that Lighthouse gives the main pages of the console, as
// medians of several loads, with what it is made of. The scores come from clocks: on a busy machine they say little.
import { table } from "node:console";
import { openProfile, signIn } from "../packages/console/test/support/console.ts";
import { lacksLighthouse, MAIN_PAGES, openLighthouse } from "../packages/console/test/support/lighthouse.ts";
import { placesOf } from "../packages/console/test/support/routes.ts";
import { startPlatform } from "../packages/server/test/support/platform.ts";
import { freePort } from "../packages/server/test/support/unused-port.ts";

const LEAST_SCORE = 95;
const DEFAULT_RUNS = 3;
const MAX_RUNS = 21;
/** In milliseconds, but for the shift of the layout. */
const AUDITS = {
  "first content": "first-contentful-paint",
  "largest content": "largest-contentful-paint",
  blocked: "total-blocking-time",
  "speed index": "speed-index",
  shift: "cumulative-layout-shift",
} as const;

const asked = Number(process.argv[2]?.replace(/^--runs=/, "") ?? DEFAULT_RUNS);
if (!Number.isInteger(asked) || asked < 1 || asked > MAX_RUNS) {
  console.error(`--runs takes a number from 1 to ${MAX_RUNS}`);
  process.exit(2);
}
const lacking = lacksLighthouse();
if (lacking !== false) {
  console.error(lacking);
  process.exit(1);
}
const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;

const platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
const port = await freePort();
const context = await openProfile(platform.url, [`--remote-debugging-port=${port}`]);
let isReached = context !== undefined;
if (context === undefined) console.error("no Chromium on this machine: apt-get install chromium");
try {
  if (context !== undefined) {
    const places = await placesOf(platform);
    await signIn(await context.newPage(), await platform.token());
    const { audit } = await openLighthouse(port, ["performance"]);
    const rows: Record<string, Record<string, number>> = {};
    for (const path of MAIN_PAGES) {
      const reports: Awaited<ReturnType<typeof audit>>[] = [];
      for (let run = 0; run < asked; run += 1) reports.push(await audit(platform.url + path + (places[path] ?? "")));
      const of = (id: string): number => median(reports.map(({ audits }) => audits[id]?.numericValue ?? NaN));
      const score = median(reports.map(({ categories }) => categories["performance"]?.score ?? 0)) * 100;
      rows[path] = { score: Math.round(score) };
      for (const [name, id] of Object.entries(AUDITS)) rows[path][name] = Number(of(id).toPrecision(3));
      isReached &&= score >= LEAST_SCORE;
    }
    table(rows);
    if (!isReached) console.error(`a page is below ${LEAST_SCORE}`);
  }
} finally {
  await context?.close();
  await platform.close();
}
process.exit(isReached ? 0 : 1);
