// npm run bench [-- --rows get,list --quick]: how fast Moorage is on this machine, held against the runtime's own limit, the bare engine and
// Debian's docker-registry. docs/performance.md says how it is measured.
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ask, freePort, LOAD_CORE, pinned, residentMib, SERVER_CORE, start, stop, untilAnswers } from "./processes.ts";
import { startMoorage, startPeer } from "./registries.ts";
import { machine, summarize, table } from "./report.ts";
import { rowsOf, type Sample, type Sizes } from "./rows.ts";
import type { Seed, Seeded } from "./seed.ts";

const KEYS = ["hello", "ping", "get", "list", "moves", "manifest", "blob"];
const GROUPS = 100;
const SEED_TIMEOUT_MS = 600_000;
const BUILD = fileURLToPath(new URL("../build/", import.meta.url));
const ours = (file: string): URL => new URL(file, import.meta.url);

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: KEYS.join(",") }, quick: { type: "boolean", default: false }, repos: { type: "string" },
    rounds: { type: "string" }, "round-ms": { type: "string" }, "blob-mib": { type: "string" }, connections: { type: "string", default: "64" },
  },
});

const number = (text: string | undefined, full: number, quick: number): number => {
  const value = text === undefined ? (values.quick ? quick : full) : Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${text} is not a whole number above 0`);
  return value;
};
const wanted = new Set(values.rows.split(","));
const unknown = [...wanted].find((key) => !KEYS.includes(key));
if (unknown !== undefined) throw new Error(`--rows: no ${unknown}; there are ${KEYS.join(", ")}`);
const rounds = number(values.rounds, 5, 3);
const sizes: Sizes = {
  repos: number(values.repos, 1_000_000, 10_000), roundMs: number(values["round-ms"], 1_500, 500),
  blobBytes: number(values["blob-mib"], 512, 64) * 2 ** 20, connections: number(values.connections, 64, 64),
};

const say = (text: string): void => { process.stderr.write(`${text}\n`); };

/** A data folder with the repos in it, made once for each schema and size and kept under build/. */
async function seeded(): Promise<{ folder: string; repo: string }> {
  const schema = createHash("sha256").update(readFileSync(ours("../packages/server/src/store/migrations.ts"))).update(readFileSync(ours("seed.ts"))).digest("hex").slice(0, 12);
  const folder = join(BUILD, "bench", `seed-${sizes.repos}-${schema}`);
  if (!existsSync(folder)) {
    say(`seeding ${sizes.repos.toLocaleString("en")} repos`);
    const making = mkdtempSync(join(BUILD, "bench", "making-"));
    try {
      const moorage = await startMoorage(making);
      await stop(moorage.process);
      const input: Seed = { database: join(making, "moorage.db"), organization: moorage.organization.uid, repos: sizes.repos, groups: GROUPS };
      const { repo, milliseconds } = await ask<Seeded>(LOAD_CORE, "seed.ts", input, SEED_TIMEOUT_MS);
      writeFileSync(join(making, "bench.json"), JSON.stringify({ repo }));
      renameSync(making, folder);
      say(`seeded in ${(milliseconds / 1000).toFixed(1)} s, kept for the next run`);
    } finally {
      rmSync(making, { recursive: true, force: true });
    }
  }
  return { folder, repo: (JSON.parse(readFileSync(join(folder, "bench.json"), "utf8")) as { repo: string }).repo };
}

async function startHello(): Promise<{ process: ReturnType<typeof start>; port: number }> {
  const port = await freePort();
  const child = start(SERVER_CORE, process.execPath, [fileURLToPath(ours("hello.ts")), String(port)]);
  await untilAnswers(`http://127.0.0.1:${port}/`, child, SEED_TIMEOUT_MS);
  return { process: child, port };
}

mkdirSync(join(BUILD, "bench"), { recursive: true });
say(pinned ? "servers on core 0, load on core 1" : "processes are not kept to cores of their own: no taskset, or one core; ratios say less");
const seed = await seeded();
const scratch = mkdtempSync(join(BUILD, "bench", "run-"));
const children: ReturnType<typeof start>[] = [];
try {
  const dataDir = join(scratch, "data");
  cpSync(seed.folder, dataDir, { recursive: true });
  const hello = await startHello();
  children.push(hello.process);
  const moorage = await startMoorage(dataDir);
  children.push(moorage.process);
  const restMib = residentMib(moorage.process.pid);
  const peer = await startPeer(scratch);
  if (peer) children.push(peer.process);
  else say("no docker-registry on PATH: its rows are left out (Debian: apt-get install docker-registry)");

  const rows = await rowsOf({ hello, moorage, peer, dataDir, repo: seed.repo, sizes }, (key) => wanted.has(key));
  const samples = new Map<string, Sample[]>(rows.map((row) => [row.title, []]));
  // Rounds outside, rows inside: what drifts over the run drifts for all. The first round warms up and does not count.
  for (let round = 0; round <= rounds; round += 1) {
    say(round === 0 ? "warming up" : `round ${round} of ${rounds}`);
    for (const row of rows) {
      const sample = await row.measure(round);
      if (sample.failure !== undefined) say(`${row.title}: ${sample.failure}`);
      if (round > 0) samples.get(row.title)?.push(sample);
    }
  }
  const lines = summarize(rows, samples);
  const server = { readyMs: Math.round(moorage.readyMs), restMib: restMib && Math.round(restMib), afterMib: Math.round(residentMib(moorage.process.pid) ?? 0) };
  writeFileSync(join(BUILD, "bench.json"), `${JSON.stringify({ date: new Date().toISOString(), machine: machine(), pinned, rounds, sizes, server, rows: lines }, null, 2)}\n`);
  process.stdout.write(`${table(lines)}\n\nready after ${server.readyMs} ms on ${sizes.repos.toLocaleString("en")} repos; ${server.restMib} MiB at rest, ${server.afterMib} MiB after the run\n`);
  if (lines.some((line) => line.failure !== undefined)) process.exitCode = 1;
} finally {
  await Promise.all(children.map(stop));
  rmSync(scratch, { recursive: true, force: true });
}
