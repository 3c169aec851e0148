// A group that stands for a registry and whose quota is used up: what no longer fits passes without being kept.
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { test } from "node:test";
import { openTestStore } from "../../../server/test/support/database.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { startFakeHub } from "../../../server/test/support/fake-hub.ts";
import { digestOf, startInstallation } from "../../../server/test/support/installation.ts";
import { LOOPBACK } from "../../../server/test/support/mirror.ts";

const LIMIT = 2_000;

test("what a quota has no space for is pulled whole, also by several clients, and is not kept", async (t) => {
  const hub = await startFakeHub(t);
  const here = await startInstallation(t, { ...LOOPBACK, MOORAGE_WORK_POLL: "20ms" });
  const { uid: group } = await here.api("POST", `/iam/v2/groups/${here.bootstrap.organization.uid}`, { name: "hub" });
  await here.api("POST", `/registry/v2/upstreams/${group}`, { registry: hub.registry });
  await here.api("POST", `/registry/v2/quotas/${group}`, { bytes: String(LIMIT) });
  const { db, close } = await openTestStore(here.dataDir);
  t.after(close);
  // A quota that is still being counted refuses nothing.
  const isCounted = db.selectFrom("quotas").select("state").where("counted_to", "=", "9");
  await eventually(async () => (await isCounted.execute()).length === 1);
  const pull = (path: string) => here.ask("GET", `/v2/acme/hub/app/${path}`, { token: here.registry });
  const small = hub.push("app", "small", "small");
  const big = hub.push("app", "big", "x".repeat(LIMIT + 1));
  const pullWhole = async (tag: string, { digest, layer }: typeof big): Promise<void> => {
    const manifest = await pull(`manifests/${tag}`);
    assert.deepEqual([manifest.status, digestOf(manifest.text)], [200, digest]);
    const blob = await pull(`blobs/${layer}`);
    assert.deepEqual([blob.status, digestOf(blob.text)], [200, layer]);
  };
  await pullWhole("small", small);
  await Promise.all(Array.from({ length: 5 }, () => pullWhole("big", big)));

  // What was pulled is copied in the background, which is refused for the big one.
  const names = async (table: "manifests" | "repo_blobs"): Promise<string[]> =>
    (await db.selectFrom(table).select("digest").execute()).map(({ digest }) => digest);
  await eventually(async () => (await names("manifests")).includes(small.digest));
  await pullWhole("big", big);
  assert.deepEqual(await names("manifests"), [small.digest]);
  assert.ok(!(await names("repo_blobs")).includes(big.layer));
  const { used_bytes: used } = await db.selectFrom("quotas").select("used_bytes").executeTakeFirstOrThrow();
  assert.ok(used <= LIMIT, `${used} bytes`);
  const hex = big.layer.slice("sha256:".length);
  await eventually(() => globSync(`**/*${hex}*`, { cwd: here.dataDir }).length === 0);
});
