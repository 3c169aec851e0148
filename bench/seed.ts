// Fills a fresh installation's database with repos, by SQL, as a million pushes would have left them. Reads a Seed as JSON from standard
// input and prints a Seeded. The server must not be running.
import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";

export interface Seed { database: string; organization: string; repos: number; groups: number }
/** A repo from the middle, to get. */
export interface Seeded { repo: string; milliseconds: number }

const EPOCH_MS = 1_760_000_000_000;

/** The last part of a uid: looks random, and is the same at every run. */
function part(kind: string, index: number): string {
  return createHash("sha256").update(`${kind}/${index}`).digest("hex").slice(0, 16);
}

function seed({ database: path, organization, repos, groups }: Seed): Seeded {
  const began = performance.now();
  const database = new DatabaseSync(path);
  // A crash here costs only the seeding.
  database.exec("pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -1000000; begin");
  const group = database.prepare("insert into groups values (?, ?, ?, '', 0, 0, 0, '{}', ?, ?)");
  const groupName = database.prepare("insert into group_names values (?, ?, ?)");
  const below = database.prepare("insert into ancestry values (?, ?, ?, ?)");
  const uids = Array.from({ length: groups }, (_, index) => `${organization}/${part("group", index)}`);
  uids.forEach((uid, index) => {
    const name = `team-${String(index).padStart(3, "0")}`;
    group.run(uid, organization, name, EPOCH_MS, EPOCH_MS);
    groupName.run(organization, name, uid);
    below.run("groups", organization, name, uid);
    below.run("groups", uid, name, uid);
  });
  const repo = database.prepare(`insert into repos (uid, parent, name, description, catalog_tier, bundles, readme, aliases, active_tags, sync_config, create_time, update_time)
    values (?, ?, ?, ?, 0, '[]', '', '[]', '[]', null, ?, ?)`);
  const each = Math.ceil(repos / groups);
  for (let index = 0; index < repos; index += 1) {
    const parent = uids[Math.floor(index / each)] ?? organization;
    repo.run(`${parent}/${part("repo", index)}`, parent, `image-${String(index).padStart(7, "0")}`, `Image number ${index} of the benchmark`, EPOCH_MS + index, EPOCH_MS + index);
  }
  database.exec(`
    insert into group_names (parent, name, uid) select parent, name, uid from repos order by parent, name;
    insert into ancestry (kind, ancestor, name, uid) select 'repos', '${organization}', name, uid from repos order by name, uid;
    insert into ancestry (kind, ancestor, name, uid) select 'repos', parent, name, uid from repos order by parent, name, uid;
    insert into counters (kind, ancestor, n) select 'repos', '${organization}', count(*) from repos where true on conflict (kind, ancestor) do update set n = n + excluded.n;
    insert into counters (kind, ancestor, n) select 'repos', parent, count(*) from repos where true group by parent on conflict (kind, ancestor) do update set n = n + excluded.n;
    insert into counters (kind, ancestor, n) values ('groups', '${organization}', ${groups}) on conflict (kind, ancestor) do update set n = n + excluded.n;
    commit; pragma journal_mode = wal; analyze; pragma wal_checkpoint(truncate);`);
  const middle = database.prepare("select uid from ancestry where kind = 'repos' and ancestor = ? and name >= ? limit 1").get(organization, `image-${String(repos >> 1).padStart(7, "0")}`) as { uid: string };
  database.close();
  return { repo: middle.uid, milliseconds: performance.now() - began };
}

if (import.meta.main) {
  let text = "";
  for await (const chunk of process.stdin) text += String(chunk);
  process.stdout.write(JSON.stringify(seed(JSON.parse(text) as Seed)));
}
