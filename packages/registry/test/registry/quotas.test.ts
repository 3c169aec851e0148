import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { loadConfig } from "../../../server/src/index.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { foundBy } from "../../../server/test/support/fsck.ts";
import { statementsRun } from "../../../server/test/support/statements.ts";
import { openCall } from "../../../server/src/runtime/open-call.ts";
import { type Answer, type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

interface Quota extends Json {
  state: string;
  softPercent: number;
  used: { bytes?: string; repos: string; tags: string; libraries: string };
}

const KIB = 1024;
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const digestOf = (content: Uint8Array | string): string =>
  `sha256:${createHash("sha256").update(content).digest("hex")}`;

async function world(t: { after(end: () => Promise<void>): void }) {
  const platform = await startPlatform({ MOORAGE_GC_INTERVAL: "0" });
  t.after(() => platform.close());
  const { uid: team } = await platform.group(platform.organization, { name: "team" });
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const raw = (method: string, path: string, content: string | Uint8Array, type: string): Promise<Answer> =>
    platform.call(method, path, { token, raw: content as string, headers: { "content-type": type } });
  return {
    platform,
    team,
    token,
    blob: (name: string, content: string | Uint8Array): Promise<Answer> =>
      raw("POST", `/v2/${name}/blobs/uploads/?digest=${digestOf(content)}`, content, "application/octet-stream"),
    manifest: (name: string, tag: string, config: string, layers: readonly string[]): Promise<Answer> =>
      raw("PUT", `/v2/${name}/manifests/${tag}`, manifestOf(config, layers), MANIFEST),
    quota: (group = team): Promise<Quota> => platform.ok<Quota>("GET", `/registry/v2/quotas/${group}`),
    counted: (group = team): Promise<Quota> =>
      eventually(async () => {
        const quota = await platform.ok<Quota>("GET", `/registry/v2/quotas/${group}`);
        return quota.state !== "QUOTA_STATE_COUNTING" && quota;
      }),
    faults: async (): Promise<string[]> => await foundBy(loadConfig(platform.settings), { repair: false }),
  };
}

function manifestOf(config: string, layers: readonly string[]): string {
  const part = (content: string, mediaType: string): object => ({
    mediaType,
    digest: digestOf(content),
    size: Buffer.byteLength(content),
  });
  return JSON.stringify({
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: part(config, "application/vnd.oci.image.config.v1+json"),
    layers: layers.map((layer) => part(layer, "application/vnd.oci.image.layer.v1.tar")),
  });
}

const CONFIG = JSON.stringify({ architecture: "amd64", os: "linux" });
const bytesOf = (quota: Quota): number => Number(quota.used.bytes);

async function eventsOf(platform: Platform): Promise<string[]> {
  const { events } = await platform.ok<{ events: { type: string }[] }>(
    "GET",
    `/events/v2/events?group=${platform.organization}&page_size=1000`,
  );
  return events
    .map(({ type }) => type.replace(/^dev\.moorage\./, ""))
    .filter((type) => type.startsWith("registry.quota"));
}

test("content counts once below a quota, whatever it comes and goes by", { timeout: 300_000 }, async (t) => {
  const { platform, team, token, blob, manifest, counted, quota, faults } = await world(t);
  const layer = "x".repeat(10 * KIB);
  const image = manifestOf(CONFIG, [layer]);
  const once = CONFIG.length + layer.length + image.length;
  // What was there before is counted when the quota is set, and what comes meanwhile, too.
  for (const name of ["acme/team/before", "acme/other"]) {
    for (const content of [CONFIG, layer]) assert.equal((await blob(name, content)).status, 201);
    assert.equal((await manifest(name, "v1", CONFIG, [layer])).status, 201);
  }
  const made = await platform.ok<Quota>("POST", `/registry/v2/quotas/${team}`, { bytes: "1000000" });
  assert.equal(made.state, "QUOTA_STATE_COUNTING");
  assert.equal(made.used.bytes, undefined, "what is not counted is not known");
  assert.equal(made.softPercent, 80);
  assert.equal(bytesOf(await counted()), once);
  assert.deepEqual((await platform.ok<Json>("GET", `/iam/v2/groups/${team}`))["resourceLimits"], { mebibytes: 0 });

  // The same image in a second repo, its layer mounted from outside of the quota.
  assert.equal((await blob("acme/team/second", CONFIG)).status, 201);
  const mount = `/v2/acme/team/second/blobs/uploads/?mount=${digestOf(layer)}&from=acme/other`;
  assert.equal((await platform.call("POST", mount, { token })).status, 201);
  assert.equal((await manifest("acme/team/second", "v1", CONFIG, [layer])).status, 201);
  assert.equal((await blob("acme/team/second", layer)).status, 201);
  const both = await quota();
  assert.equal(bytesOf(both), once);
  assert.deepEqual([both.used.repos, both.used.tags, both.state], ["2", "2", "QUOTA_STATE_OK"]);

  // One goes, and nothing changes; the other goes, too.
  const repos = await platform.ok<{ repos: { uid: string; name: string }[] }>(
    "GET",
    `/registry/v2/repos?uidp.descendants_of=${team}`,
  );
  const [one, other] = repos.repos;
  await platform.ok("DELETE", `/registry/v2/repos/${one?.uid}`);
  assert.equal(bytesOf(await quota()), once);
  const path = `/v2/acme/team/${other?.name}`;
  assert.equal((await platform.call("DELETE", `${path}/manifests/${digestOf(image)}`, { token })).status, 202);
  assert.equal(bytesOf(await quota()), once - image.length);
  assert.equal((await platform.call("DELETE", `${path}/blobs/${digestOf(layer)}`, { token })).status, 202);
  assert.equal(bytesOf(await quota()), CONFIG.length);
  assert.deepEqual(await faults(), []);
});

test("what does not fit is refused with what there is, is used and is needed", { timeout: 300_000 }, async (t) => {
  const { platform, team, token, blob, manifest, counted, quota, faults } = await world(t);
  await platform.ok("POST", `/registry/v2/quotas/${team}`, { bytes: String(100 * KIB) });
  await counted();
  const [small, medium, large] = ["s".repeat(70 * KIB), "m".repeat(15 * KIB), "l".repeat(40 * KIB)];
  assert.equal((await blob("acme/team/app", small)).headers["warning"], undefined);
  const warned = await blob("acme/team/app", medium);
  assert.equal(warned.status, 201);
  assert.equal(warned.headers["warning"], '299 - "quota of acme/team: 100 KiB, used 85"');
  assert.equal((await quota()).state, "QUOTA_STATE_WARNED");
  const before = bytesOf(await quota());

  const refused = await blob("acme/team/app", large);
  assert.equal(refused.status, 403);
  assert.deepEqual(
    (refused.body as unknown as { errors: { code: string; message: string }[] }).errors.map(({ code, message }) => [
      code,
      message,
    ]),
    [["DENIED", "quota of acme/team: 100 KiB, used 85, needs 40 more"]],
  );
  assert.equal((await quota()).state, "QUOTA_STATE_EXCEEDED");
  assert.equal(bytesOf(await quota()), before);
  const stored = await platform.reader.selectFrom("blobs").select("digest").execute();
  assert.ok(!stored.some(({ digest }) => digest === digestOf(large)), "nothing stays of what was refused");

  // A session hears of it before it has sent its content.
  const begun = await platform.call("POST", "/v2/acme/team/app/blobs/uploads/", { token });
  assert.equal(begun.status, 202);
  const patched = await platform.call("PATCH", String(begun.headers["location"]), {
    token,
    raw: large,
    headers: { "content-type": "application/octet-stream" },
  });
  assert.equal(patched.status, 403);
  // What is there already costs nothing, however little is left.
  assert.equal((await blob("acme/team/second", small)).status, 201);
  assert.equal((await blob("acme/team/app", "f".repeat(15 * KIB))).status, 201);
  const full = await manifest("acme/team/app", "v1", small, [medium]);
  assert.equal(full.status, 403, "a manifest counts, too");
  // What came for it alone goes with it, and what another repo has stays.
  assert.equal(bytesOf(await quota()), (70 + 15) * KIB);
  const rest = await platform.reader.selectFrom("blobs").select("digest").execute();
  assert.deepEqual(
    [small, medium].map((content) => rest.some(({ digest }) => digest === digestOf(content))),
    [true, false],
  );
  assert.equal((await blob("acme/team/app", medium)).status, 201);
  assert.equal((await platform.call("POST", "/v2/acme/team/app/blobs/uploads/", { token })).status, 403);

  assert.deepEqual(
    await eventually(async () => {
      const found = await eventsOf(platform);
      return found.length >= 4 && found.toSorted();
    }),
    [
      "registry.quota.created.v1",
      // Refused, then less with what the manifest had come with, then refused once more.
      "registry.quota.exceeded.v1",
      "registry.quota.exceeded.v1",
      "registry.quota.warned.v1",
    ],
  );

  // More space: what was refused fits.
  await platform.ok("PATCH", `/registry/v2/quotas/${team}`, { bytes: String(200 * KIB) });
  assert.equal((await quota()).state, "QUOTA_STATE_OK");
  assert.equal((await blob("acme/team/app", large)).status, 201);
  // Less than is used: nothing more comes in.
  await platform.ok("PATCH", `/registry/v2/quotas/${team}`, { bytes: "5" });
  assert.equal((await quota()).state, "QUOTA_STATE_EXCEEDED");
  assert.equal((await blob("acme/team/app", "one more")).status, 403);
  await platform.ok("DELETE", `/registry/v2/quotas/${team}`);
  assert.equal((await blob("acme/team/app", "one more")).status, 201);
  assert.deepEqual(await faults(), []);
});

test("quotas of all groups above hold, and those above alone set them", { timeout: 300_000 }, async (t) => {
  const { platform, team, blob, manifest, counted } = await world(t);
  const { uid: inner } = await platform.group(team, { name: "inner" });
  const owner = await platform.identity(team, "owner");
  const asOwner = async (method: string, path: string, body?: unknown): Promise<Answer> =>
    await platform.call(method, path, { token: await platform.token(owner), body });
  const own = await asOwner("POST", `/registry/v2/quotas/${team}`, { bytes: "5" });
  assert.equal(own.status, 403);
  assert.match(String(own.body["message"]), /the caller lacks CAP_QUOTAS_UPDATE on the group above/);
  assert.equal((await asOwner("POST", `/registry/v2/quotas/${inner}`, { repos: "1" })).status, 200);
  await platform.ok("POST", `/registry/v2/quotas/${team}`, { repos: "3", tags: "2" });
  for (const method of ["PATCH", "DELETE"])
    assert.equal((await asOwner(method, `/registry/v2/quotas/${team}`, { repos: "9" })).status, 403);
  assert.equal((await asOwner("GET", `/registry/v2/quotas/${team}`)).status, 200);
  await counted();
  await counted(inner);

  await platform.repo(inner, { name: "one" });
  const second = await platform.call("POST", `/registry/v2/repos/${inner}`, {
    token: await platform.token(),
    body: { name: "two" },
  });
  assert.equal(second.status, 400);
  assert.equal(second.body["message"], "Precondition failed: quota of acme/team/inner: 1 repos, used 1, needs 1 more");
  await platform.repo(team, { name: "two" });
  for (const content of [CONFIG, "layer"]) await blob("acme/team/two", content);
  for (const tag of ["a", "b", "a"])
    assert.equal((await manifest("acme/team/two", tag, CONFIG, ["layer"])).status, 201);
  const third = await manifest("acme/team/two", "c", CONFIG, ["layer"]);
  assert.equal(third.status, 403);
  assert.match(third.text, /quota of acme\/team: 2 tags, used 2, needs 1 more/);
  await platform.repo(team, { name: "three" });
  assert.equal((await blob("acme/team/four", "content")).status, 403);
  // That of the organization is set by administrators, of whom this owner is one.
  await platform.ok("POST", `/registry/v2/quotas/${platform.organization}`, { bytes: "100000" });
  const { quotas } = await platform.ok<{ quotas: Quota[] }>("GET", "/registry/v2/quotas");
  assert.equal(quotas.length, 3);
});

test("a push takes one conditional update of quotas, and asks nothing where there is none", async (t) => {
  const { platform, team, blob, counted } = await world(t);
  assert.equal((await blob("acme/team/app", "first")).status, 201);
  const { commitBlob } = await import("../../src/oci/blobs/commands.ts");
  const data = {
    caller: { identity: platform.owner },
    requestId: "r",
    nowMs: platform.clock.nowMs(),
    remoteAddress: "",
    userAgent: "",
  };
  /** The statements about quotas by which new content is linked. */
  const asked = (content: string): Promise<string[]> =>
    platform.transact(async (tx) => {
      const input = {
        name: "acme/team/app",
        digest: digestOf(content),
        size: content.length,
        generation: "0".repeat(16),
        ending: undefined,
      };
      const statements = await statementsRun(() =>
        Promise.resolve(commitBlob.run(openCall(data, tx), input, { terms: [] })),
      );
      // The worker that counts new quotas looks meanwhile whether there are any.
      const about = statements.filter(
        ({ text }) => /quota/.test(text) && !text.startsWith('select "uid" from "quotas"'),
      );
      return about.map(({ text }) => text.trim().split(/\s+/).slice(0, 3).join(" "));
    });
  // Whether there is one is learned from the statement that links.
  assert.deepEqual(await asked("without"), ["insert into repo_blobs"]);
  await platform.ok("POST", `/registry/v2/quotas/${team}`, { bytes: "100000" });
  await platform.ok("POST", `/registry/v2/quotas/${platform.organization}`, { bytes: "100000" });
  await counted();
  await counted(platform.organization);
  // What they hold is measured once an hour, and first when they are counted.
  await eventually(
    async () => (await platform.reader.selectFrom("quota_shares").select("quota").execute()).length === 2,
  );
  const two = ["insert into repo_blobs", "insert into quota_refs", "update quotas set"];
  assert.deepEqual(await asked("with two"), two);
  assert.deepEqual(await asked("with two"), ["insert into repo_blobs"], "what is linked already is not counted again");
});
