// npm run bench [-- --quick --only manifest --engine sqlite]: the speed of Moorage on this machine, compared with the
// limits of the runtime, the database engines alone, Debian's docker-registry and zot. bench/README.md says how it
// is measured.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startBare } from "./bare.ts";
import { commandFigures } from "./command.ts";
import { guarded, type Part, runPostgres, runSqlite } from "./engines.ts";
import { installMoorage, SOURCES } from "./installation.ts";
import { heavyLines } from "./heavy.ts";
import { openLoader } from "./loader.ts";
import { startDockerRegistry, startZot } from "./peers.ts";
import { pinned, stopAll } from "./processes.ts";
import { goalsOf, machine, markdown, summarize } from "./report.ts";
import type { Sizes } from "./rows.ts";
import { FEW_TAGS } from "./rows-tags.ts";
import { say } from "./say.ts";

const BUILD = fileURLToPath(new URL("../build/", import.meta.url));
const MIB = 2 ** 20;
const FULL: Sizes = {
  repos: [100, 100_000, 1_000_000],
  tags: 1_000_000,
  rounds: 3,
  roundMs: 1_000,
  // V8 compiles what is asked often on the server's own core: a get takes twice the processor time until then.
  warmMs: 3_000,
  blobBytes: 512 * MIB,
  smallBlobBytes: 64 * MIB,
  feedRecords: 6_000,
  images: 100_000,
  deltaRecords: 1_000,
  artifacts: 1_000_000,
  connections: 64,
};
const QUICK: Sizes = {
  repos: [100, 1_000, 10_000],
  tags: 10_000,
  rounds: 1,
  roundMs: 1_000,
  warmMs: 2_000,
  blobBytes: 64 * MIB,
  smallBlobBytes: 8 * MIB,
  feedRecords: 1_000,
  images: 2_000,
  deltaRecords: 100,
  artifacts: 10_000,
  connections: 64,
};

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: [] },
    engine: { type: "string", default: "both" },
    tags: { type: "string" },
    artifacts: { type: "string" },
    sources: { type: "boolean", default: false },
    rounds: { type: "string" },
    "round-ms": { type: "string" },
  },
});
if (!["both", "sqlite", "postgres"].includes(values.engine))
  throw new Error("--engine: must be sqlite, postgres or both");
const whole = (name: string, text: string | undefined, fallback: number): number => {
  if (text !== undefined && !/^[1-9]\d{0,6}$/.test(text)) throw new Error(`--${name}: must be a whole number above 0`);
  return text === undefined ? fallback : Number(text);
};
const base = values.quick ? QUICK : FULL;
const tags = Math.max(FEW_TAGS, whole("tags", values.tags, base.tags));
const sizes: Sizes = {
  ...base,
  tags,
  artifacts: whole("artifacts", values.artifacts, base.artifacts),
  rounds: whole("rounds", values.rounds, base.rounds),
  roundMs: whole("round-ms", values["round-ms"], base.roundMs),
};

const began = performance.now();
const cacheFolder = join(BUILD, "bench");
mkdirSync(cacheFolder, { recursive: true });
const scratch = mkdtempSync(join(cacheFolder, "run-"));
for (const copy of ["logged", "silent", "uncounted", "signed", "unread", "images", "libraries"])
  mkdirSync(join(scratch, copy));
const cleanups: Part["cleanups"] = [];
const loader = openLoader();
const versions: Record<string, string> = {};

// After a signal, the run still stops the processes that it started.
const interrupted = new Promise<never>((_, reject) => {
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => reject(new Error(`ended by ${signal}`)));
});
interrupted.catch(() => {});

async function startPeers(): Promise<Part["peers"]> {
  const found = { "docker-registry": await startDockerRegistry(scratch), zot: await startZot(scratch) };
  for (const [name, peer] of Object.entries(found)) if (peer) versions[name] = peer.version;
  if (!found["docker-registry"])
    say("no docker-registry on PATH: its rows are left out (Debian: apt-get install docker-registry)");
  if (!found.zot)
    say("no zot in build/tools or on PATH: its rows are left out (with Go on the machine: .ci/tools.sh zot zb)");
  return Object.values(found).flatMap((peer) => peer?.registry ?? []);
}

async function run(): Promise<void> {
  say(
    pinned
      ? "servers on core 0, load on core 1"
      : "processes are not bound to separate cores: no taskset, or one core; ratios are less reliable",
  );
  const launcher = values.sources ? SOURCES : installMoorage(join(cacheFolder, "installed"));
  const [hello, grpcHello] = [await startBare("hello.ts"), await startBare("grpc-hello.ts")];
  const part: Part = {
    launcher,
    cacheFolder,
    scratch,
    only: values.only.map((word) => word.toLowerCase()),
    sizes,
    loader,
    hello,
    grpcHello,
    peers: await startPeers(),
    measured: [],
    figures: [],
    heavy: [],
    zb: [],
    zbRequests: values.quick ? 2 : 4,
    failures: [],
    cleanups,
  };
  if (part.only.length === 0 || part.only.includes("command"))
    await guarded(part, "the command", async () => void part.figures.push(...commandFigures(launcher, scratch)));
  // They take minutes, and are measured when they are named.
  if (part.only.includes("heavy"))
    await guarded(part, "heavy inputs", async () => void part.heavy.push(...(await heavyLines())));
  // These need no other server.
  if (part.only.length > 0 && part.only.every((word) => ["command", "heavy"].includes(word))) return report(part);
  if (values.engine !== "postgres") await guarded(part, "SQLite", () => runSqlite(part));
  if (values.engine !== "sqlite") await guarded(part, "PostgreSQL", () => runPostgres(part));
  report(part);
}

function report({ measured, figures, heavy, zb, failures }: Part): void {
  const sections = measured.map(summarize);
  const goals = goalsOf(sections, figures);
  const seconds = Math.round((performance.now() - began) / 1000);
  const facts = { date: new Date().toISOString(), seconds, machine: machine(), versions, pinned, sizes };
  writeFileSync(
    join(BUILD, "bench.json"),
    `${JSON.stringify({ ...facts, sections, figures, heavy, goals, zb, failures }, null, 2)}\n`,
  );
  const parts = [
    markdown({ sections, figures, heavy, zb, goals }),
    ...failures.map((failure) => `FAILED: ${failure}`),
    `the run took ${seconds} s`,
  ];
  writeFileSync(join(BUILD, "bench.md"), `${parts.join("\n\n")}\n`);
  process.stdout.write(`${parts.join("\n\n")}\n`);
  if (failures.length > 0 || sections.some(({ lines }) => lines.some((line) => line.failure !== undefined)))
    process.exitCode = 1;
}

try {
  await Promise.race([run(), interrupted]);
} finally {
  await stopAll();
  for (const cleanup of cleanups) await cleanup();
  rmSync(scratch, { recursive: true, force: true });
}
