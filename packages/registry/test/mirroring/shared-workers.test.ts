import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { sendJson, startFakeSource } from "../../../server/test/support/fake-source.ts";
import { startInstallation } from "../../../server/test/support/installation.ts";
import { LOOPBACK, type Sync } from "../../../server/test/support/mirror.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

// Organizations share the workers: what is slow for one does not keep the others waiting.

test("sources that answer nothing, or stop within a blob, hold no worker that another organization waits for", async (t) => {
  const image = await startFakeSource(t);
  const here = await startInstallation(t, {
    ...LOOPBACK,
    MOORAGE_MIRROR_WORKERS: "2",
    MOORAGE_MIRROR_SLICE: "500ms",
  });
  const { organization, publicOrganization } = here.bootstrap;
  const make = async (parent: string, name: string, source: string): Promise<string> =>
    (await here.api("POST", `/registry/v2/repos/${parent}`, { name, syncConfig: { source } })).uid;
  const sync = (uid: string): Promise<Sync> => here.api<Sync>("GET", `/registry/v2/repos/${uid}/sync`);

  const silent = image("silent");
  silent.push("one", { tags: ["v1"] });
  const unanswered: ServerResponse[] = [];
  const broken: ServerResponse[] = [];
  let isSilent = true;
  silent.misbehave = ({ path, res }) => {
    if (!isSilent || !path.startsWith("tags/list")) return false;
    unanswered.push(res);
    return true;
  };
  const stuck = image("stuck");
  const { layer } = stuck.push("it stops in the middle", { tags: ["v1"] });
  stuck.misbehave = ({ path, res }) => {
    if (!isSilent || path !== `blobs/${layer}`) return false;
    res.writeHead(200, { "content-length": "it stops in the middle".length }).write("it stops");
    broken.push(res);
    return true;
  };
  const slow = [
    await make(organization.uid, "silent", silent.source),
    await make(organization.uid, "stuck", stuck.source),
  ];
  await eventually(async () => unanswered.length > 0 && broken.length > 0);

  const quick = image("quick");
  quick.push("two", { tags: ["v1"] });
  const other = await make(publicOrganization.uid, "quick", quick.source);
  const done = await eventually(async () => {
    const now = await sync(other);
    return now.state === "SYNC_STATE_SUCCEEDED" && now;
  });
  assert.equal(done.tagsSeen, 1);
  for (const uid of slow)
    assert.match((await sync(uid)).state, /PENDING|RUNNING/, "the slow ones have not ended, and have not failed");

  // They go on when their sources do.
  isSilent = false;
  for (const res of broken) res.destroy();
  for (const res of unanswered) if (!res.destroyed) sendJson(res, { tags: ["v1"] });
  for (const uid of slow) await eventually(async () => (await sync(uid)).state === "SYNC_STATE_SUCCEEDED");
});
