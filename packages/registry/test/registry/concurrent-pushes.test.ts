import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { loadConfig } from "../../../server/src/index.ts";
import { openStore } from "../../../kernel/src/store/index.ts";
import { pushIndex, pushLayers, type PushTarget } from "../../../server/test/support/catalog/push.ts";
import { ENGINE } from "../../../server/test/support/database.ts";
import { foundBy } from "../../../server/test/support/fsck.ts";
import { startPlatform } from "../../../server/test/support/platform.ts";
import { startReplicas } from "../../../server/test/support/replicas.ts";

// Many clients push concurrently. On PostgreSQL their commands share transactions (ADR 14), on SQLite the writer thread
// commits them together; each push must end as if it had been alone.

const CLIENTS = 16;
const PUSHES = 6;
const BASE = Buffer.from("a layer that all images have");

/**
 * What clients do who get into each other's way: images with a layer that all have and one of their own, some of them
 * the same images in several repos, below tags that several clients move, in repos and groups that nobody has made yet.
 * Answers the digests that were acknowledged, by the image's path and tag.
 */
async function pushAll(targetOf: (client: number) => PushTarget): Promise<Map<string, string[]>> {
  const moves = new Map<string, string[]>();
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      const target = targetOf(client);
      for (let push = 0; push < PUSHES; push += 1) {
        // Half of the clients push what another one pushes elsewhere.
        const own = Buffer.from(`layer ${client >> 1} ${push}`);
        const digest = await pushLayers(target, `t${push % 2}`, [BASE, own]);
        const key = `${target.name}:t${push % 2}`;
        moves.set(key, [...(moves.get(key) ?? []), digest]);
        if (push === PUSHES - 1)
          await pushIndex(target, `index-${client}`, [[digest, { os: "linux", architecture: "amd64" }]]);
      }
    }),
  );
  return moves;
}

const nameOf = (client: number): string => `acme/team${client % 3}/image${client % 6}`;

for (const workers of ENGINE === "postgres" ? [0, 3] : [0])
  test(
    workers === 0
      ? "concurrent pushes end as if each had been alone"
      : "so they do through several processes of a server",
    { timeout: 300_000 },
    async (t) => {
      let settings: Record<string, string>;
      let target: Omit<PushTarget, "name">;
      if (workers === 0) {
        const platform = await startPlatform({ MOORAGE_GC_INTERVAL: "0" });
        t.after(() => platform.close());
        const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
        [settings, target] = [platform.settings, { url: platform.url, token }];
      } else {
        const { url, registry, env } = await startReplicas(t, 1, {
          MOORAGE_GC_INTERVAL: "0",
          MOORAGE_WORKERS: String(workers),
        });
        [settings, target] = [env, { url, token: registry }];
      }
      const moves = await pushAll((client) => ({ ...target, name: nameOf(client) }));
      const config = loadConfig(settings);
      const store = await openStore(config);
      t.after(() => store.close());
      const db = store.reader;
      const { rows: records } = await sql<{ repo: string; tag: string; digest: string; now: string }>`
        select repos.name as repo, tag_history.tag, tag_history.digest, tags.digest as now
        from tag_history join repos on repos.uid = tag_history.repo
          join tags on tags.parent = repos.uid and tags.name = tag_history.tag
        where tag_history.tag like 't%' order by repos.name, tag_history.tag, tag_history.time`.execute(db);
      for (const [key, digests] of moves) {
        const [path = "", tag] = key.split(":");
        const mine = records.filter((record) => record.repo === path.split("/").at(-1) && record.tag === tag);
        const history = mine.map(({ digest }) => digest);
        // A push of what the tag points to already is no move.
        assert.deepEqual(new Set(history), new Set(digests), key);
        assert.ok(
          history.every((digest, at) => digest !== history[at - 1]),
          `${key}: each record is a move`,
        );
        assert.ok(history.length <= digests.length, `${key}: no move is there twice`);
        assert.equal(mine[0]?.now, history.at(-1), key);
        const answer = await fetch(`${target.url}/v2/${path}/manifests/${tag}`, {
          headers: { authorization: `Bearer ${target.token}` },
        });
        assert.equal(answer.headers.get("docker-content-digest"), history.at(-1), key);
      }
      const { rows: counts } = await sql<{ n: number; found: number }>`
        select n, (select count(*) from tags) as found from counters
        where kind = 'tags' and ancestor = (select uid from groups where name = 'acme')`.execute(db);
      assert.deepEqual(
        counts.map(({ n, found }) => Number(n) - Number(found)),
        [0],
      );
      const { rows: groups } = await sql<{ name: string; n: number }>`
        select name, count(*) as n from groups where name like 'team%' group by name`.execute(db);
      assert.deepEqual(
        groups.map(({ name, n }) => `${name} ${Number(n)}`).toSorted(),
        ["team0 1", "team1 1", "team2 1"],
        "each group is made once",
      );
      assert.deepEqual(await foundBy(config, { repair: false }), []);
    },
  );
