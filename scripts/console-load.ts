// npm run console:load [-- NAME…] [-- --runs=3]: what the first load of the pages of the design costs the main thread,
// in milliseconds of processor time, as medians of several loads, each in a browser that has cached nothing. Processor
// time hardly depends on what else the machine does; a quiet one still gives steadier numbers.
import { table } from "node:console";
import { settlePage } from "../packages/console/test/support/pictures/steady.ts";
import { signIn } from "../packages/console/test/support/console.ts";
import { openPages } from "./console-pages.ts";

/** What Chromium sums up of a page's main thread, in seconds; all tasks first, then what they are made of. */
const METRICS = ["TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration"] as const;
const DEFAULT_RUNS = 3;
const MAX_RUNS = 21;

const args = process.argv.slice(2);
const names = args.filter((arg) => !arg.startsWith("--"));
const asked = Number(args.find((arg) => arg.startsWith("--runs="))?.slice("--runs=".length) ?? DEFAULT_RUNS);
if (!Number.isInteger(asked) || asked < 1 || asked > MAX_RUNS) {
  console.error(`--runs takes a number from 1 to ${MAX_RUNS}`);
  process.exit(2);
}
const { console_, pages, isWrong } = await openPages(names);
const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;

try {
  const session = await console_.signedOut();
  await signIn(session, await console_.platform.token());
  const storageState = await session.context().storageState();
  await session.context().close();
  const rows: Record<string, Record<string, number>> = {};
  for (const { name, path, isSignedOut } of pages) {
    const loads: number[][] = [];
    for (let run = 0; run < asked; run += 1) {
      const page = await console_.signedOut(isSignedOut === true ? {} : { storageState });
      const session = await page.context().newCDPSession(page);
      await session.send("Performance.enable", { timeDomain: "threadTicks" });
      await page.goto(path);
      await settlePage(page);
      const { metrics } = await session.send("Performance.getMetrics");
      loads.push(METRICS.map((metric) => metrics.find((each) => each.name === metric)?.value ?? NaN));
      await page.context().close();
    }
    rows[name] = Object.fromEntries(
      METRICS.map((metric, at) => [
        metric.replace("Duration", ""),
        Math.round(median(loads.map((load) => load[at] ?? NaN)) * 1_000),
      ]),
    );
  }
  table(rows);
} finally {
  await console_.close();
}
process.exit(isWrong ? 1 : 0);
