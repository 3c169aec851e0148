import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { AloneResult } from "./alone.ts";
import { accepts } from "./bare.ts";
import type { Posts } from "./events-alone.ts";
import type { Received } from "./events-receiver.ts";
import { api, type Moorage } from "./moorage.ts";
import { withClient } from "./postgres.ts";
import { ask, cpuUsOf, freePort, LOAD_CORE, SERVER_CORE, start, stop, until } from "./processes.ts";
import type { Bench, Row, Sample, Section, Round } from "./rows.ts";

// So many events wait when a round of a second begins: more than can be sent in it.
const EVENTS_A_MS = 10;
const LEAST_ON_POSTGRES = 1_000;
// The default for one subscription.
const CONNECTIONS = 16;
const HEADERS = 16;
const START_TIMEOUT_MS = 10_000;
const ASK_TIMEOUT_MS = 60_000;
const DRAIN_TIMEOUT_MS = 120_000;
const POLL_MS = 50;
const BUSY_MS = 20_000;

// The length of a push event.
const BODY = JSON.stringify({
  repository: "events/bench/application",
  repo_id: "0".repeat(74),
  tag: "latest",
  digest: `sha256:${"0".repeat(64)}`,
  type: "manifest",
  when: "2026-11-21T00:00:00.000000",
  remote_address: "192.0.2.10",
  user_agent: "bench/1.0",
});
const ACTOR = JSON.stringify({ subject: "0".repeat(40), act: {} });

/**
 * Events wait in the outbox, until one receiver has them all; compared with the same requests alone. The receiver runs
 * until the function passed to `onClose` is called.
 */
export async function eventSection(bench: Bench, onClose: (close: () => Promise<void>) => void): Promise<Section> {
  const {
    engine,
    servers: [smallest],
  } = bench;
  if (smallest === undefined) throw new Error("no server to send events");
  const {
    moorage,
    installation: { place },
  } = smallest;
  const port = await freePort();
  const receiver = start(LOAD_CORE, process.execPath, [
    fileURLToPath(new URL("./events-receiver.ts", import.meta.url)),
    String(port),
  ]);
  onClose(() => stop(receiver));
  await until(() => accepts(port), receiver, START_TIMEOUT_MS);
  const sink = `http://127.0.0.1:${port}/events`;
  const { uid: group } = await api<{ uid: string }>(moorage.platform, "POST", "/iam/v2/groups", { name: "events" });
  await api(moorage.platform, "POST", `/events/v2/subscriptions/${group}`, {
    sink,
    typePrefixes: ["dev.moorage.registry.push."],
  });
  const alone = "POSTs of the same kind by undici, nothing else";
  const rows: Row[] = [
    {
      title: alone,
      unit: "/s",
      async measure({ durationMs }) {
        const input: Posts = { url: sink, connections: CONNECTIONS, bytes: BODY.length, headers: HEADERS, durationMs };
        return {
          rate: (await ask<AloneResult>(SERVER_CORE, "events-alone.ts", input, durationMs + ASK_TIMEOUT_MS)).perSecond,
        };
      },
    },
    {
      title: `events to one receiver, from the outbox on, ${engine}`,
      unit: "/s",
      against: [{ title: alone }],
      ...(engine === "PostgreSQL" && { least: LEAST_ON_POSTGRES }),
      measure: (round) =>
        delivered(moorage, { sink, receiver: receiver.pid, append: (count) => append(place, group, count) }, round),
    },
  ];
  return { title: `events, ${engine}`, rows };
}

interface Way {
  sink: string;
  receiver: number | undefined;
  append(count: number): Promise<void>;
}

async function delivered(
  moorage: Moorage,
  { sink, receiver, append: fill }: Way,
  { durationMs }: Round,
): Promise<Sample> {
  const count = durationMs * EVENTS_A_MS;
  await control(sink, "DELETE");
  const [server, load] = [moorage.cpuUs(), cpuUsOf(receiver)];
  await fill(count);
  const deadline = performance.now() + DRAIN_TIMEOUT_MS;
  let received = await control(sink, "GET");
  while (received.count < count) {
    if (performance.now() > deadline) return { rate: 0, failure: `${received.count} of ${count} arrived in time` };
    await wait(POLL_MS);
    received = await control(sink, "GET");
  }
  const elapsedMs = received.lastMs - received.firstMs;
  const [serverAfter, loadAfter] = [moorage.cpuUs(), cpuUsOf(receiver)];
  return {
    rate: (received.count * 1_000) / elapsedMs,
    ...(server !== undefined && serverAfter !== undefined && { cpuUs: (serverAfter - server) / received.count }),
    ...(load !== undefined && loadAfter !== undefined && { loadShare: (loadAfter - load) / 1_000 / elapsedMs }),
  };
}

async function control(sink: string, method: "GET" | "DELETE"): Promise<Received> {
  const response = await fetch(sink, { method, signal: AbortSignal.timeout(START_TIMEOUT_MS) });
  return (await response.json()) as Received;
}

/** Adds so many events to the outbox, like those of pushes to one repo, in one transaction. */
async function append(
  { dataDir, env }: { dataDir: string; env: Record<string, string> },
  group: string,
  count: number,
): Promise<void> {
  // The ids only have to be different each time.
  const series = `${Date.now()}-`;
  const statement = `with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < ${count})
    insert into event_outbox (id, type, subject, parent, target, time, actor, body)
    select '${series}' || i, 'registry.push.v1', '${group}/0000000000000000', '${group}', '', ${Date.now()}, '${ACTOR}', '${BODY}' from numbers`;
  const url = env["MOORAGE_DATABASE_URL"];
  if (url !== undefined) return withClient(url, async (client) => void (await client.query(statement)));
  const database = new DatabaseSync(join(dataDir, "moorage.db"), { timeout: BUSY_MS });
  database.exec(statement);
  database.close();
}
