// `npm run storm`: receivers of all kinds under as many events as asked while servers are killed, with a seed that it
// prints.
//
//   npm run storm -- --events 50000 --seed 42 --engine postgres
//
// On SQLite one server sends, on PostgreSQL two do.
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { dirname } from "node:path";
import { parseArgs } from "node:util";

const option = (fallback: string) => ({ type: "string", default: fallback }) as const;
const { events, seed, engine } = parseArgs({
  options: { events: option("50000"), seed: option(String(randomInt(1_000_000))), engine: option("sqlite") },
}).values;
if (!/^[1-9]\d{1,7}$/.test(events) || !/^\d{1,9}$/.test(seed) || !["sqlite", "postgres"].includes(engine)) {
  console.error("storm: --events and --seed are whole numbers, at least 10 events, and --engine is sqlite or postgres");
  process.exit(1);
}
console.log(`storm: ${events} events on ${engine}, seed ${seed}`);
const { status, error } = spawnSync(process.execPath, ["scripts/test.ts", "test/faults/storm.test"], {
  cwd: dirname(import.meta.dirname),
  stdio: "inherit",
  env: {
    ...process.env,
    MOORAGE_TEST_ENGINES: engine,
    MOORAGE_TEST_STORM_EVENTS: events,
    MOORAGE_TEST_STORM_SEED: seed,
  },
});
if (error !== undefined) console.error(`storm: ${error.message}`);
process.exit(status ?? 1);
