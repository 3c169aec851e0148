// The throughput of PostgreSQL alone, like alone.ts for SQLite. Reads a PostgresAlone as JSON from standard input and
// prints an AloneResult. `cpuUs` is without PostgreSQL's own.
import pg from "pg";
import { answer } from "./processes.ts";
import type { AloneResult } from "./alone.ts";

export interface PostgresAlone {
  /**
   * As in Alone: a page and its total, read by so many connections, or durable commits of one row by one connection.
   * Besides: a repo by its uid, a manifest by repo and digest, the rows of the statement `text`.
   */
  work: "list" | "commit" | "get" | "manifest" | "rows";
  url: string;
  ancestor: string;
  connections: number;
  /** The parameters of each statement, in turn; for `get`, `manifest` and `rows`. */
  keys?: string[][];
  text?: string;
  durationMs: number;
}

const PAGE = 50;
const LIST = {
  name: "page",
  rowMode: "array" as const,
  text: `select r.uid, r.name, r.description, r.catalog_tier, r.bundles, r.aliases, r.active_tags, r.sync_config, r.create_time, r.update_time
    from ancestry a join repos r on r.uid = a.uid where a.kind = 'repos' and a.ancestor = $1 order by a.name, a.uid limit ${PAGE + 1}`,
};
const TOTAL = { name: "total", text: "select n from counters where kind = 'repos' and ancestor = $1" };
// The statements of GetRepo and of a manifest by digest.
const BY_KEY = {
  get: "select uid, name, description, catalog_tier, bundles, readme, aliases, active_tags, tag_policy, sync_config, create_time, update_time from repos where uid = $1",
  manifest: "select digest, media_type, content, touch_time from manifests where repo = $1 and digest = $2",
};
const TABLE =
  "create table if not exists bench_moves (n bigint generated always as identity primary key, tag text, digest text)";
const DIGEST = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

async function run({
  work,
  url,
  ancestor,
  connections,
  keys = [],
  text,
  durationMs,
}: PostgresAlone): Promise<AloneResult> {
  const settings = {
    connectionString: url,
    options: "-c enable_seqscan=off",
    connectionTimeoutMillis: 10_000,
    query_timeout: 30_000,
  };
  const clients = Array.from({ length: connections }, () => new pg.Client(settings));
  await Promise.all(clients.map((client) => client.connect()));
  try {
    if (work === "commit") await clients[0]?.query(TABLE);
    const began = performance.now();
    const used = process.cpuUsage();
    let count = 0;
    let next = 0;
    await Promise.all(
      clients.map(async (client) => {
        while (performance.now() - began < durationMs) {
          if (work === "commit") {
            await client.query({
              name: "insert",
              text: "insert into bench_moves (tag, digest) values ($1, $2)",
              values: ["latest", DIGEST],
            });
          } else if (work === "get" || work === "manifest") {
            const values = keys[next++ % keys.length];
            const { rows } = await client.query({ name: work, rowMode: "array", text: BY_KEY[work], values });
            if (rows.length !== 1) throw new Error("there is no such row");
          } else if (work === "rows") {
            const values = keys[next++ % keys.length];
            const { rows } = await client.query({ name: work, rowMode: "array", text: text ?? "", values });
            if (rows.length === 0) throw new Error("there is no such row");
          } else {
            const [page] = await Promise.all([
              client.query({ ...LIST, values: [ancestor] }),
              client.query({ ...TOTAL, values: [ancestor] }),
            ]);
            if (page.rows.length <= PAGE) throw new Error("the page is short");
          }
          count += 1;
        }
      }),
    );
    const { user, system } = process.cpuUsage(used);
    return { perSecond: (count * 1000) / (performance.now() - began), cpuUs: (user + system) / count };
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

if (import.meta.main) await answer<PostgresAlone>(run);
