// `npm run race`: the race of clients, garbage collections and crashes, for as long as asked, with a seed that it
// prints.
//
//   npm run race -- --seconds 600 --seed 42 --store s3
//
// Stores: files (SQLite and files), postgres (PostgreSQL and files), s3 (PostgreSQL and the S3 server of
// .ci/versity.sh).
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { dirname } from "node:path";
import { parseArgs } from "node:util";

const ENGINES: Record<string, string> = { files: "sqlite", postgres: "postgres", s3: "postgres" };

const option = (fallback: string) => ({ type: "string", default: fallback }) as const;
const { seconds, seed, store } = parseArgs({
  options: { seconds: option("120"), seed: option(String(randomInt(1_000_000))), store: option("files") },
}).values;
const engine = ENGINES[store];
if (!/^[1-9]\d{0,6}$/.test(seconds) || !/^\d{1,9}$/.test(seed) || engine === undefined) {
  console.error(
    `race: --seconds and --seed are whole numbers, and --store is one of ${Object.keys(ENGINES).join(", ")}`,
  );
  process.exit(1);
}
console.log(`race: ${seconds} s on ${store}, seed ${seed}`);
const run = [process.execPath, "scripts/test.ts", "test/faults/race.test"];
const [command = "", ...rest] = store === "s3" ? [".ci/versity.sh", ...run, "--test-name-pattern=S3"] : run;
const { status, error } = spawnSync(command, rest, {
  cwd: dirname(import.meta.dirname),
  stdio: "inherit",
  env: {
    ...process.env,
    MOORAGE_TEST_ENGINES: engine,
    MOORAGE_TEST_RACE_SECONDS: seconds,
    MOORAGE_TEST_RACE_SEED: seed,
  },
});
if (error !== undefined) console.error(`race: ${error.message}`);
process.exit(status ?? 1);
