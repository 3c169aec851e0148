import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { pushArtifact, pushIndex, pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { BAD, CLEAN, type GatedRepo, openGatedRepo, putGateRecords } from "../../../server/test/support/gated-repo.ts";
import { type Answer, type Platform, reason, startPlatform } from "../../../server/test/support/platform.ts";
import { unmet } from "../../../server/test/support/tagged-repo.ts";

const HOLD = { on: ["PULL", "PROMOTE"], mode: "ENFORCE" };
const PASS = { ...HOLD, onUnknown: "PASS" };
const AMD = { os: "linux", architecture: "amd64" };
const ARM = { os: "linux", architecture: "arm64" };
const IMAGE = "application/vnd.oci.image.config.v1+json";
const LAYER = "application/vnd.oci.image.layer.v1.tar";

let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  await putGateRecords(platform);
});
after(() => platform.close());

interface Gated {
  tagPolicy: { vulnerabilities: { onUnknown: string } };
}
interface Unknown {
  digest: string;
  state: string;
  reason: string;
  waits: boolean;
}
const waiting = (digest: string): Unknown => ({
  digest,
  state: "NOT_READ",
  reason: "it waits to be read",
  waits: true,
});
interface Denied {
  code: string;
  message: string;
  detail: { count: number; findings: object[]; unknown?: Unknown[] };
}
const errorOf = ({ body }: Answer): Denied => {
  const [error] = body["errors"] as Denied[];
  assert.ok(error !== undefined);
  return error;
};
const promote = async ({ repo }: GatedRepo, digest: string): Promise<Answer> =>
  platform.call("POST", `/registry/v2/tags/${repo}:promote`, {
    token: await platform.token(),
    body: { promotions: [{ name: "prod", digest }] },
  });
const explain = async ({ name }: GatedRepo, reference: string): Promise<Answer["body"]> =>
  platform.ok("POST", "/iam/v2/access:explain", {
    identity: platform.owner,
    action: "REGISTRY_ACTION_PULL",
    resource: `${name}:${reference}`,
  });

/** Pushes an image, without waiting until it is read. */
let images = 0;
const push = (repo: GatedRepo, tag: string, files = [npmFile("app", ...CLEAN)]): Promise<string> =>
  pushLayers(repo, tag, [tarOf([...files, { path: `unknown-${(images += 1)}` }])]);

/** Has the reading of the image wait, or go on. As a process does that reads it, and one that let go of it. */
const setWaiting = (digest: string, waits: boolean): Promise<void> =>
  platform.transact(async (tx) => {
    await tx
      .updateTable("image_catalogs")
      .set({ state: 1, holder: waits ? "another process" : "", hold_until: waits ? 9e15 : 0, finish_time: null })
      .where("digest", "=", digest)
      .execute();
  });

/** Waits until the reading of the image has ended. */
async function settled(digest: string): Promise<void> {
  await eventually(async () => {
    const row = await platform.reader
      .selectFrom("image_catalogs")
      .select("state")
      .where("digest", "=", digest)
      .executeTakeFirst();
    return row !== undefined && row.state !== 1;
  });
}

test("an enforcing gate is stored with HOLD unless it says otherwise; one of before passes, also when it is sent again", async () => {
  const repo = await openGatedRepo(platform);
  const stored = async (): Promise<{ onUnknown: string }> =>
    (await platform.ok<Gated>("GET", `/registry/v2/repos/${repo.repo}`)).tagPolicy.vulnerabilities;
  for (const [gate, onUnknown] of [
    [HOLD, "ON_UNKNOWN_HOLD"],
    [PASS, "ON_UNKNOWN_PASS"],
    [{ ...HOLD, mode: "PREVIEW" }, "ON_UNKNOWN_UNSPECIFIED"],
    [{ ...HOLD, mode: "PREVIEW", onUnknown: "HOLD" }, "ON_UNKNOWN_HOLD"],
  ] as const) {
    await repo.gate(gate);
    assert.equal((await stored()).onUnknown, onUnknown, JSON.stringify(gate));
  }
  await platform.ok("PATCH", `/registry/v2/repos/${repo.repo}?updateMask=tagPolicy.vulnerabilities.mode`, {
    tagPolicy: { vulnerabilities: { mode: "ENFORCE" } },
  });
  assert.equal((await stored()).onUnknown, "ON_UNKNOWN_HOLD");
  const created = await platform.ok<Gated>("POST", `/registry/v2/repos/${platform.organization}`, {
    name: "made-with-a-gate",
    tagPolicy: { vulnerabilities: HOLD },
  });
  assert.equal(created.tagPolicy.vulnerabilities.onUnknown, "ON_UNKNOWN_HOLD");

  const old = { on: ["GATE_ACTION_PULL"], mode: "GATE_MODE_ENFORCE" };
  await platform.transact(async (tx) => {
    const text = JSON.stringify({ vulnerabilities: old });
    await tx.updateTable("repos").set({ tag_policy: text }).where("uid", "=", repo.repo).execute();
  });
  const digest = await push(repo, "v1");
  await setWaiting(digest, true);
  assert.equal((await repo.pull("v1")).status, 200);
  await platform.ok("PATCH", `/registry/v2/repos/${repo.repo}?updateMask=tagPolicy`, {
    tagPolicy: { vulnerabilities: old, protectedTags: ["v.*"] },
  });
  assert.equal((await repo.pull("v1")).status, 200, "the gate is the one of before");
  await repo.gate({ ...old, fixableOnly: true });
  assert.equal((await repo.pull("v1")).status, 429, "it is set anew");
});

test("an image that waits to be read is held, with an answer that clients repeat, and passes once it was read", async () => {
  const repo = await openGatedRepo(platform, HOLD);
  const digest = await push(repo, "v1");
  await setWaiting(digest, true);
  const answer = await repo.pull("v1");
  assert.deepEqual([answer.status, reason(answer)], [429, "RESOURCE_EXHAUSTED"]);
  assert.ok(Number(answer.headers["retry-after"]) > 0);
  const { code, message, detail } = errorOf(answer);
  assert.equal(code, "TOOMANYREQUESTS");
  assert.match(message, /It is not known what sha256:\w{64} holds: it waits to be read\. [^]*Ask again/);
  assert.deepEqual([detail.count, detail.unknown], [0, [waiting(digest)]]);
  const head = await repo.pull(digest, "HEAD");
  assert.deepEqual([head.status, "retry-after" in head.headers], [429, true]);
  const [event] = await repo.eventsUntil(1);
  assert.deepEqual(
    [event?.type, event?.body.count, event?.body.unknown],
    ["registry.gate.rejected.v1", 0, [waiting(digest)]],
  );
  const promoted = await promote(repo, digest);
  assert.deepEqual([promoted.status, unmet(promoted)], [400, ["VULNERABILITY_GATE prod"]]);
  assert.match(promoted.body.message, /it waits to be read/);
  const explained = await explain(repo, "v1");
  assert.deepEqual([explained["allowed"], explained["reason"]], [false, "ACCESS_REASON_GATE_REJECTS"]);
  assert.match(JSON.stringify(explained["remedies"]), /ask again/);
  const metrics = await (await fetch(`${platform.url}/metrics`)).text();
  assert.match(metrics, /^moorage_gated_pulls_total\{outcome="rejected",reason="waiting"\} [1-9]/m);
  const found = await platform.ok("GET", `/vulnerabilities/v2/findings?repo=${repo.repo}&digest=${digest}`);
  assert.deepEqual(found["unknownImages"], [
    {
      ...waiting(digest),
      platform: "",
      state: "KNOWLEDGE_STATE_NOT_READ",
      uncovered: [],
      unreadFiles: 0,
    },
  ]);
  await setWaiting(digest, false);
  await repo.pulledAs("v1", 200);
  assert.equal((await promote(repo, digest)).status, 200);
  const audited = await eventually(async () => {
    const rows = await platform.reader
      .selectFrom("audit_entries")
      .select(["reason", "details"])
      .where("method", "=", "registry.read")
      .execute();
    const found = rows.flatMap((row) => (row.details.includes(repo.name) ? [row.reason] : []));
    return found.length > 0 && found;
  });
  assert.match(audited.join("\n"), /not known yet what the image holds/);
});

test("what could not be read, only in part, or in which nothing was found is held for good, and the answer says why", async () => {
  const repo = await openGatedRepo(platform, HOLD);
  const damaged = await pushLayers(repo, "damaged", [Buffer.from("no archive")]);
  const part = await push(repo, "part", [
    npmFile("app", ...CLEAN),
    { path: "var/lib/rpm/Packages", content: Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x61, 0x15, 6, 0]) },
  ]);
  const empty = await push(repo, "empty", []);
  const other = await pushLayers(repo, "other", [Buffer.from("layer")], "application/x-tar");
  const typed = await pushArtifact(repo, {
    reference: "typed",
    artifactType: "application/vnd.example",
    config: { mediaType: IMAGE, content: "{}" },
    layers: [{ mediaType: LAYER, content: tarOf([npmFile("app", ...BAD)]) }],
  });
  for (const [tag, digest, why] of [
    ["damaged", damaged, /could not be read: layer sha256:\w+ is no tar archive/],
    ["part", part, /a part of it could not be read: var\/lib\/rpm\/Packages: an rpm database of BerkeleyDB/],
    ["empty", empty, /no package was found in it/],
    ["other", other, /could not be read: it is no image with file systems/],
  ] as const) {
    await settled(digest);
    const answer = await repo.pulledAs(tag, 403);
    const { code, message, detail } = errorOf(answer);
    assert.equal(code, "DENIED");
    assert.match(message, why);
    assert.deepEqual([detail.count, detail.unknown?.map((each) => [each.digest, each.waits])], [0, [[digest, false]]]);
    const promoted = await promote(repo, digest);
    assert.deepEqual([promoted.status, unmet(promoted)], [400, ["VULNERABILITY_GATE prod"]]);
    assert.match(promoted.body.message, why);
  }
  await settled(typed);
  assert.match(errorOf(await repo.pulledAs("typed", 403)).message, /CVE-2026-1/, "whatever type it says it is");
});

test("with PASS an unknown image passes, and each answer says that it is not known", async () => {
  const repo = await openGatedRepo(platform, PASS);
  const digest = await push(repo, "v1");
  await setWaiting(digest, true);
  const { status, headers } = await repo.pull("v1");
  assert.equal(status, 200);
  // The form that the OCI distribution specification gives to what clients show to people.
  assert.match(
    String(headers["warning"]),
    /^299 - "It is not known what sha256:\w+ holds: it waits to be read\. [^"]*"$/,
  );
  const [event] = await repo.eventsUntil(1);
  assert.deepEqual([event?.type, event?.body.unknown?.[0]?.digest], ["registry.gate.passed.v1", digest]);
  const explained = await explain(repo, "v1");
  assert.equal(explained["allowed"], true);
  const steps = explained["steps"] as { kind: string; outcome: string; message: string }[];
  const step = steps.find(({ kind }) => kind === "KIND_GATE");
  assert.equal(step?.outcome, "OUTCOME_PASSED");
  assert.match(step?.message ?? "", /It is not known what sha256:\w+ holds: it waits to be read/);
  const promoted = await promote(repo, digest);
  assert.equal(promoted.status, 200);
  assert.deepEqual(promoted.body["unknownImages"], [
    { tag: "prod", digest, reason: "it waits to be read", state: "NOT_READ" },
  ]);
  await setWaiting(digest, false);
  await settled(digest);
});

test("a preview lets unknown images pass, and emits what the gate would reject", async () => {
  const repo = await openGatedRepo(platform, { ...HOLD, mode: "PREVIEW" });
  const digest = await push(repo, "v1");
  await setWaiting(digest, true);
  assert.equal((await repo.pull("v1")).status, 200);
  const [event] = await repo.eventsUntil(1);
  assert.deepEqual([event?.type, event?.body.unknown?.[0]?.waits], ["registry.gate.previewed.v1", true]);
  assert.equal((await promote(repo, digest)).status, 200);
  await setWaiting(digest, false);
  await settled(digest);
});

test("signatures, attestations and other artifacts are no images of which something would have to be known", async () => {
  const repo = await openGatedRepo(platform, HOLD);
  const config = { mediaType: IMAGE, content: "{}" };
  const pushed = [
    await pushArtifact(repo, {
      config,
      layers: [{ mediaType: "application/vnd.dev.cosign.simplesigning.v1+json", content: "{}" }],
    }),
    await pushArtifact(repo, { config, layers: [{ mediaType: "application/vnd.in-toto+json", content: "{}" }] }),
    await pushArtifact(repo, {
      config: { mediaType: "application/vnd.cncf.helm.config.v1+json", content: "{}" },
      layers: [{ mediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", content: "chart" }],
    }),
    await pushArtifact(repo, { artifactType: "application/vnd.example", layers: [] }),
  ];
  for (const digest of pushed) {
    assert.equal((await repo.pull(digest)).status, 200, digest);
    assert.equal((await promote(repo, digest)).status, 200, digest);
  }
});

test("of an index each image is judged where it is pulled, and all of them where it is promoted", async () => {
  const repo = await openGatedRepo(platform);
  const known = await repo.push("known", CLEAN);
  const waiting = await push(repo, "waiting");
  await setWaiting(waiting, true);
  const mixed = await pushIndex(repo, "mixed", [
    [known, AMD],
    [waiting, ARM],
  ]);
  const alone = await pushIndex(repo, "alone", [[waiting, ARM]]);
  const hidden = await pushIndex(repo, "hidden", [
    [known, AMD],
    [await repo.push("bad", BAD), { os: "linux", architecture: "unknown" }],
  ]);
  await repo.gate(HOLD);
  assert.equal((await repo.pull(known)).status, 200);
  assert.equal((await repo.pull(mixed)).status, 200, "the image for amd64 is known");
  assert.equal((await repo.pull(waiting)).status, 429);
  const { detail } = errorOf(await repo.pulledAs(alone, 429));
  assert.deepEqual(
    detail.unknown?.map(({ digest }) => digest),
    [waiting],
  );
  for (const digest of [mixed, alone, hidden]) assert.equal((await promote(repo, digest)).status, 400, digest);
  await setWaiting(waiting, false);
  await repo.pulledAs(alone, 200);
  assert.equal((await promote(repo, mixed)).status, 200);
});
