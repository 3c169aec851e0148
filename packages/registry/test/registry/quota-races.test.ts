import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { loadConfig } from "../../../server/src/index.ts";
import { openStore } from "../../../kernel/src/store/index.ts";
import { digestOf } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { foundBy } from "../../../server/test/support/fsck.ts";
import { startReplicas } from "../../../server/test/support/replicas.ts";

// Many clients push for what is left of a quota, through several processes of a server. On PostgreSQL their commands
// share transactions (ADR 14), and transactions of several processes collide; on SQLite one thread writes.

const CLIENTS = 50;
const SIZE = 64 * 1024;
const FIT = 16;

test(
  "of 50 pushes for the last MiB of a quota exactly as many are admitted as fit",
  { timeout: 300_000 },
  async (t) => {
    const { url, registry, platform, bootstrap, env } = await startReplicas(t, 1, {
      MOORAGE_GC_INTERVAL: "0",
      MOORAGE_WORKERS: "2",
    });
    const ask = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${platform}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      assert.equal(answer.status, 200, await answer.clone().text());
      return (await answer.json()) as Record<string, unknown>;
    };
    const push = async (name: string, content: Buffer<ArrayBuffer>): Promise<{ status: number; text: string }> => {
      const answer = await fetch(`${url}/v2/${name}/blobs/uploads/?digest=${digestOf(content)}`, {
        method: "POST",
        headers: { authorization: `Bearer ${registry}`, "content-type": "application/octet-stream" },
        body: content,
      });
      return { status: answer.status, text: await answer.text() };
    };
    /** The same content in an upload of several requests. */
    const pushInParts = async (
      name: string,
      content: Buffer<ArrayBuffer>,
    ): Promise<{ status: number; text: string }> => {
      const headers = { authorization: `Bearer ${registry}`, "content-type": "application/octet-stream" };
      let answer = await fetch(`${url}/v2/${name}/blobs/uploads/`, { method: "POST", headers });
      const half = content.length / 2;
      for (const part of [content.subarray(0, half), content.subarray(half)]) {
        if (!answer.ok) break;
        await answer.body?.cancel();
        answer = await fetch(new URL(answer.headers.get("location") ?? "", url), {
          method: "PATCH",
          headers,
          body: part,
        });
      }
      if (answer.ok) {
        await answer.body?.cancel();
        const end = new URL(answer.headers.get("location") ?? "", url);
        end.searchParams.set("digest", digestOf(content));
        answer = await fetch(end, { method: "PUT", headers });
      }
      return { status: answer.status, text: await answer.text() };
    };
    const organization = bootstrap.organization.uid;
    const { uid: team } = await ask("POST", `/iam/v2/groups/${organization}`, { name: "team" });
    const { uid: inner } = await ask("POST", `/iam/v2/groups/${String(team)}`, { name: "inner" });
    for (let repo = 0; repo < 5; repo += 1)
      await ask("POST", `/registry/v2/repos/${String(inner)}`, { name: `app${repo}` });
    // What is used before the race: all that follow, but for the last MiB.
    const before = randomBytes(SIZE);
    assert.equal((await push("acme/team/inner/app0", before)).status, 201);
    // The quota of the group above leaves the least; that of the group itself leaves more, and must not count what the
    // other one refuses.
    await ask("POST", `/registry/v2/quotas/${String(team)}`, { bytes: String(SIZE * (FIT + 1)) });
    await ask("POST", `/registry/v2/quotas/${String(inner)}`, { bytes: String(SIZE * CLIENTS * 2) });
    const usedOf = async (group: unknown): Promise<{ state: unknown; used: { bytes?: string } }> =>
      (await ask("GET", `/registry/v2/quotas/${String(group)}`)) as never;
    for (const group of [team, inner])
      await eventually(async () => (await usedOf(group)).state !== "QUOTA_STATE_COUNTING");

    const pushed = Array.from({ length: CLIENTS }, (_, client) => ({
      name: `acme/team/inner/app${client % 5}`,
      content: randomBytes(SIZE),
    }));
    const answers = await Promise.all(pushed.map(({ name, content }) => push(name, content)));
    const statuses = answers.map(({ status }) => status);
    assert.deepEqual(
      [statuses.filter((status) => status === 201).length, statuses.filter((status) => status === 403).length],
      [FIT, CLIENTS - FIT],
      JSON.stringify(answers.filter(({ status }) => status !== 201 && status !== 403)),
    );
    for (const { status, text } of answers)
      if (status === 403) assert.match(text, /quota of acme\/team: 1\.1 MiB, used [\d.]+, needs 0\.1 more/);
    for (const group of [team, inner]) assert.equal((await usedOf(group)).used.bytes, String(SIZE * (FIT + 1)));
    const config = loadConfig(env);
    const store = await openStore(config);
    t.after(() => store.close());
    // Nothing stays of those that were refused.
    const blobs = await store.reader.selectFrom("blobs").select("digest").execute();
    assert.equal(blobs.length, FIT + 1);
    const crossings = await store.reader.selectFrom("event_outbox").select("type").execute();
    const numbered = await store.reader
      .selectFrom("events")
      .select("type")
      .where("subject", "=", String(team))
      .execute();
    const types = [...crossings, ...numbered]
      .map(({ type }) => type)
      .filter((type) => /quota\.(?:warned|exceeded)/.test(type));
    assert.deepEqual(types.toSorted(), ["registry.quota.exceeded.v1", "registry.quota.warned.v1"]);
    // What was admitted can be pushed again by everybody, and costs nothing.
    const again = await Promise.all(
      pushed.filter((_, at) => statuses[at] === 201).map(({ content }) => push("acme/team/inner/app0", content)),
    );
    assert.ok(again.every(({ status }) => status === 201));
    assert.equal((await usedOf(team)).used.bytes, String(SIZE * (FIT + 1)));
    // As many fit of uploads in parts, some of which are open while others are linked.
    await ask("PATCH", `/registry/v2/quotas/${String(team)}`, { bytes: String(SIZE * (FIT * 2 + 1)) });
    const inParts = await Promise.all(pushed.map(({ name }) => pushInParts(name, randomBytes(SIZE))));
    assert.deepEqual(
      [201, 403].map((status) => inParts.filter((answer) => answer.status === status).length),
      [FIT, CLIENTS - FIT],
      JSON.stringify(inParts.filter(({ status }) => status !== 201 && status !== 403)),
    );
    for (const group of [team, inner]) assert.equal((await usedOf(group)).used.bytes, String(SIZE * (FIT * 2 + 1)));
    const now = await store.reader.selectFrom("blobs").select("digest").execute();
    assert.equal(now.length, FIT * 2 + 1);
    assert.deepEqual(await foundBy(config, { repair: false }), []);
  },
);
