import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ADVISORIES, ADVISORY_EVENTS } from "../../../server/test/support/advisories.ts";
import { deleteReference, pushArtifact, pushIndex } from "../../../server/test/support/catalog/push.ts";
import { osvOf, plainRecord, putRecords } from "../../../server/test/support/feed-records.ts";
import {
  BAD,
  CLEAN,
  CRITICAL,
  type GatedRepo,
  MILD,
  openGatedRepo,
  putGateRecords,
  SEVERE,
} from "../../../server/test/support/gated-repo.ts";
import { before as affectedBefore } from "../../../server/test/support/matching.ts";
import { type Answer, blamed, type Platform, reason, startPlatform } from "../../../server/test/support/platform.ts";

const PULL = { on: ["PULL"], mode: "ENFORCE" };
const DAY_MS = 24 * 3_600_000;
const UNKNOWN = { os: "unknown", architecture: "unknown" };
const AMD = { os: "linux", architecture: "amd64" };
const ARM = { os: "linux", architecture: "arm64" };

let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  await putGateRecords(platform);
});
after(() => platform.close());

const open = (gate?: object): Promise<GatedRepo> => openGatedRepo(platform, gate);
const errorOf = ({ body }: Answer): { code: string; message: string; detail: Record<string, unknown> } => {
  const [error] = body["errors"] as { code: string; message: string; detail: Record<string, unknown> }[];
  assert.ok(error !== undefined);
  return error;
};

test("a gate is stored as it is set, and an invalid one is rejected with every field that is wrong", async () => {
  const { repo } = await open();
  const patch = async (vulnerabilities: object): Promise<Answer> =>
    platform.call("PATCH", `/registry/v2/repos/${repo}`, {
      token: await platform.token(),
      body: { tagPolicy: { vulnerabilities } },
    });
  const field = (name: string): string => `tagPolicy.vulnerabilities.${name}`;
  assert.deepEqual(blamed(await patch({ mode: "ENFORCE" })), [field("on")]);
  assert.deepEqual(blamed(await patch({ on: ["PULL"], graceDays: -1 })), [field("graceDays")]);
  assert.deepEqual(blamed(await patch({ on: ["PULL", "GATE_ACTION_UNSPECIFIED"], graceDays: 3_651 })), [
    field("graceDays"),
    field("on[1]"),
  ]);
  assert.deepEqual(blamed(await patch({ on: ["PULL", "PULL", "PULL"] })), [field("on")]);
  for (const wrong of [{ on: ["BUILD"] }, { on: ["PULL"], mode: "SOMETIMES" }, { on: ["PULL"], severity: "BAD" }])
    assert.equal((await patch(wrong)).status, 400, JSON.stringify(wrong));
  assert.equal((await platform.ok("GET", `/registry/v2/repos/${repo}`))["tagPolicy"], undefined);
  const set = {
    severity: "HIGH",
    fixableOnly: true,
    kev: true,
    graceDays: 7,
    on: ["PULL", "PROMOTE"],
    mode: "PREVIEW",
  };
  assert.equal((await patch(set)).status, 200);
  const { tagPolicy } = await platform.ok<{
    tagPolicy: { vulnerabilities: object };
  }>("GET", `/registry/v2/repos/${repo}`);
  assert.deepEqual(tagPolicy.vulnerabilities, {
    severity: "FINDING_SEVERITY_HIGH",
    fixableOnly: true,
    kev: true,
    graceDays: 7,
    on: ["GATE_ACTION_PULL", "GATE_ACTION_PROMOTE"],
    mode: "GATE_MODE_PREVIEW",
    onUnknown: "ON_UNKNOWN_UNSPECIFIED",
  });
});

test("a finding counts if all that the gate says holds for it", async () => {
  const repo = await open();
  await repo.push("bad", BAD);
  await repo.push("severe", SEVERE, CLEAN);
  await repo.push("mild", MILD);
  await repo.push("clean", CLEAN);
  await repo.push("two", MILD, SEVERE);
  const cases: [gate: object, rejected: string[]][] = [
    [{}, ["bad", "severe", "mild", "two"]],
    [{ severity: "UNKNOWN" }, ["bad", "severe", "mild", "two"]],
    [{ severity: "LOW" }, ["bad", "severe", "mild", "two"]],
    [{ severity: "MEDIUM" }, ["bad", "severe", "two"]],
    [{ severity: "CRITICAL" }, ["bad", "severe", "two"]],
    [{ fixableOnly: true }, ["bad", "severe", "two"]],
    [{ kev: true }, ["bad"]],
    [{ severity: "CRITICAL", fixableOnly: true, kev: true }, ["bad"]],
  ];
  for (const [gate, rejected] of cases) {
    await repo.gate({ ...PULL, ...gate });
    const found: string[] = [];
    for (const tag of ["bad", "severe", "mild", "clean", "two"])
      if ((await repo.pull(tag)).status === 403) found.push(tag);
    assert.deepEqual(found, rejected, JSON.stringify(gate));
  }
  await repo.gate({ ...PULL, on: ["PROMOTE"] });
  assert.equal((await repo.pull("bad")).status, 200, "the gate is not for pulls");
  await repo.gate({ on: ["PULL"] });
  assert.equal((await repo.pull("bad")).status, 200, "without a mode it is a preview");
});

test("pulls that arrive together are judged each by its own image and its own repo's gate", async () => {
  const strict = await open({ ...PULL, severity: "CRITICAL" });
  const whole = await open(PULL);
  const free = await open();
  const places = [strict, whole, free];
  for (const place of places) {
    await place.push("severe", SEVERE);
    await place.push("mild", MILD);
    await place.push("clean", CLEAN);
  }
  const tags = ["severe", "mild", "clean"];
  const expected = [
    [403, 200, 200],
    [403, 403, 200],
    [200, 200, 200],
  ];
  const round = async (): Promise<number[][]> =>
    await Promise.all(places.map((place) => Promise.all(tags.map(async (tag) => (await place.pull(tag)).status))));
  // The second time by what is kept in memory, as long as the state is the same.
  for (let time = 0; time < 2; time += 1)
    for (const found of await Promise.all(Array.from({ length: 5 }, round))) assert.deepEqual(found, expected);
});

test("a rejected pull names the worst findings and how to allow one, however the image is asked for", async () => {
  const repo = await open();
  const names = ["a", "b", "c", "d", "e"].map((letter) => [`many-${letter}`, "1.0.0"] as const);
  await putRecords(
    platform,
    "many",
    "osv",
    names.map(([name], n) => osvOf(`CVE-2026-10${n}`, { ...affectedBefore(name, "2.0.0"), ...CRITICAL })),
  );
  const digest = await repo.push("v1", BAD, MILD, ...names);
  await repo.gate(PULL);
  const answer = await repo.pull("v1");
  assert.deepEqual([answer.status, reason(answer)], [403, "PERMISSION_DENIED"]);
  const { code, message, detail } = errorOf(answer);
  assert.equal(code, "DENIED");
  assert.match(
    message,
    /sha256:\w{64} has 7 findings that the repo's vulnerability gate does not let pass: CVE-2026-1 \(CRITICAL, known to be exploited\) in pkg:npm\/bad@1\.0\.0, fixed in 2\.0\.0; CVE-2026-100 [^]*; and 2 more\. [^]*advisory/,
  );
  const { findings, ...rest } = detail;
  assert.deepEqual(rest, { repository: repo.name, digest, count: 7 });
  assert.deepEqual((findings as object[])[0], {
    vulnerability: "CVE-2026-1",
    severity: "CRITICAL",
    kev: true,
    package: "pkg:npm/bad@1.0.0",
    fixVersions: ["2.0.0"],
    digest,
  });
  assert.equal((findings as object[]).length, 5);
  const second = new Date(platform.clock.nowMs() + 1_000).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  platform.clock.offsetMs += 2_000;
  for (const reference of [digest, `v1--at--${second}`, "v1"])
    for (const method of ["GET", "HEAD"])
      assert.equal((await repo.pull(reference, method)).status, 403, `${method} ${reference}`);
  await platform.ok("PATCH", `/registry/v2/repos/${repo.repo}?updateMask=aliases`, { aliases: ["another-name"] });
  const viewer = await platform.identity(platform.organization, "viewer");
  const audience = new URL(platform.url).host;
  const ask = async (path: string, method: string, token: string): Promise<number> =>
    (await platform.call(method, `/v2/acme/${path}`, { token })).status;
  const viewers = await platform.token(viewer, { audience });
  assert.equal(await ask("another-name/manifests/v1", "GET", viewers), 403);
  const path = `${repo.name.slice("acme/".length)}`;
  const owners = await platform.token(platform.owner, { audience });
  assert.equal(await ask(`${path}/manifests/v1`, "GET", owners), 403, "whoever asks");
  assert.equal(await ask(`${path}/manifests/v1`, "HEAD", owners), 200, "before a push");
  const { content } = await platform.reader
    .selectFrom("manifests")
    .select("content")
    .where("repo", "=", repo.repo)
    .executeTakeFirstOrThrow();
  const { layers } = JSON.parse(Buffer.from(content).toString()) as { layers: { digest: string }[] };
  assert.equal(
    await ask(`${path}/blobs/${layers[0]?.digest}`, "GET", viewers),
    200,
    "layers are shared with other images",
  );
});

test("an index is answered as long as one of its images is", async () => {
  const repo = await open();
  const bad = await repo.push("bad", BAD);
  const alsoBad = await repo.push("also-bad", BAD, MILD);
  const good = await repo.push("good", CLEAN);
  const statement = await pushArtifact(repo, {
    config: { mediaType: "application/vnd.oci.image.config.v1+json", content: "{}" },
    layers: [{ mediaType: "application/vnd.in-toto+json", content: "{}" }],
  });
  const half = await pushIndex(repo, "half", [
    [bad, AMD],
    [good, ARM],
  ]);
  const whole = await pushIndex(repo, "whole", [
    [bad, AMD],
    [alsoBad, ARM],
    [statement, UNKNOWN],
  ]);
  await repo.gate({ ...PULL, kev: true });
  const statuses = async (references: string[]): Promise<number[]> => {
    const found: number[] = [];
    for (const reference of references) found.push((await repo.pull(reference)).status);
    return found;
  };
  assert.deepEqual(await statuses(["half", half, good]), [200, 200, 200]);
  assert.deepEqual(await statuses([bad, alsoBad, "whole", whole]), [403, 403, 403, 403]);
  assert.match(errorOf(await repo.pull("whole")).message, new RegExp(`${whole} has 1 finding that`));
  assert.equal((await repo.pull(statement)).status, 200, "attestations are no images");
});

test("a finding counts once it has been open for so many days", async () => {
  const repo = await open({ ...PULL, kev: true, graceDays: 3 });
  await repo.push("v1", BAD);
  const { since } = await platform.reader
    .selectFrom("package_findings")
    .select("since")
    .where("record", "=", "CVE-2026-1")
    .where("closed", "is", null)
    .executeTakeFirstOrThrow();
  const { offsetMs } = platform.clock;
  try {
    // Less than a minute lies between the times: what is known from the first pull still holds, but for this.
    for (const [afterMs, status] of [
      [3 * DAY_MS - 30_000, 200],
      [3 * DAY_MS + 1_000, 403],
      [3 * DAY_MS - 20_000, 200],
      [4 * DAY_MS, 403],
    ] as const) {
      platform.clock.offsetMs = since + afterMs - Date.now();
      assert.equal((await repo.pull("v1")).status, status, `${afterMs} ms after it was opened`);
    }
  } finally {
    platform.clock.offsetMs = offsetMs;
  }
});

test("the next pull follows the policy, and what was answered before is forgotten", async () => {
  const repo = await open();
  await repo.push("v1", BAD);
  const statuses = async (): Promise<number[]> => [(await repo.pull("v1")).status, (await repo.pull("v1")).status];
  assert.deepEqual(await statuses(), [200, 200]);
  await repo.gate(PULL);
  assert.deepEqual(await statuses(), [403, 403]);
  await repo.gate({ ...PULL, mode: "PREVIEW" });
  assert.deepEqual(await statuses(), [200, 200]);
  await repo.gate(PULL);
  assert.deepEqual(await statuses(), [403, 403]);
  await repo.gate({ ...PULL, fixableOnly: true, severity: "CRITICAL" });
  assert.deepEqual(await statuses(), [403, 403]);
  await repo.gate(undefined);
  assert.deepEqual(await statuses(), [200, 200]);
});

test("pulls follow the findings: records that come and go, and what makes one exploited", async () => {
  const repo = await open({ ...PULL, kev: true });
  await repo.push("v1", ["followed", "1.0.0"]);
  assert.equal((await repo.pull("v1")).status, 200);
  const record = osvOf("CVE-2026-200", { ...affectedBefore("followed", "2.0.0"), ...CRITICAL });
  await putRecords(platform, "followed", "osv", [record]);
  assert.equal((await repo.pull("v1")).status, 200);
  await putRecords(platform, "followed-kev", "kev", [plainRecord("CVE-2026-200")]);
  await repo.pulledAs("v1", 403);
  await putRecords(platform, "followed", "osv", [], ["CVE-2026-200"]);
  await repo.pulledAs("v1", 200);
  await putRecords(platform, "followed", "osv", [record]);
  await repo.pulledAs("v1", 403);
  await putRecords(platform, "followed-kev", "kev", [], ["CVE-2026-200"]);
  await repo.pulledAs("v1", 200);
});

test("a VEX document that is attached to the image lets it be pulled, as long as it is attached", async () => {
  const repo = await open(PULL);
  const digest = await repo.push("v1", BAD);
  assert.equal((await repo.pull("v1")).status, 403);
  const content = JSON.stringify({
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": "https://acme.example/vex/gate",
    author: "Acme",
    timestamp: "2026-11-01T08:00:00Z",
    version: 1,
    statements: [
      {
        vulnerability: { name: "CVE-2026-1" },
        products: [{ "@id": "pkg:npm/bad@1.0.0" }],
        status: "not_affected",
        justification: "vulnerable_code_not_in_execute_path",
      },
    ],
  });
  const mediaType = "application/openvex+json";
  const manifest = await pushArtifact(repo, {
    artifactType: mediaType,
    subject: digest,
    layers: [{ mediaType, content }],
  });
  await repo.pulledAs("v1", 200);
  await deleteReference(repo, manifest);
  await repo.pulledAs("v1", 403);
});

test("an advisory lets the image be pulled from its approval on, until it is deleted", async () => {
  const repo = await open(PULL);
  await putRecords(platform, "advised", "osv", [
    osvOf("CVE-2026-400", { ...affectedBefore("advised", "2.0.0"), ...CRITICAL }),
  ]);
  await repo.push("v1", ["advised", "1.0.0"]);
  await repo.pulledAs("v1", 403);
  const { uid } = await platform.ok("POST", `${ADVISORIES}/${platform.organization}`, {
    artifactName: "advised",
    artifactType: "NPM",
    aliases: ["CVE-2026-400"],
  });
  const event = await platform.ok("POST", `${ADVISORIES}/${uid}/events`, {
    falsePositiveDetermination: { type: "TYPE_VULNERABLE_CODE_NOT_IN_EXECUTION_PATH" },
  });
  platform.clock.offsetMs += 2_000;
  assert.equal((await repo.pull("v1")).status, 403, "it waits for a review");
  await platform.ok("PATCH", `${ADVISORY_EVENTS}/${event.uid}`, { reviewState: "APPROVED" });
  await repo.pulledAs("v1", 200);
  await platform.ok("DELETE", `${ADVISORIES}/${uid}`);
  await repo.pulledAs("v1", 403);
});

test("a scanner reads what it scans, and nobody else passes for one", async () => {
  const repo = await open(PULL);
  await repo.push("v1", BAD);
  const viewer = await platform.identity(platform.organization, "viewer");
  const pull = async (act: Record<string, unknown>): Promise<number> => {
    const token = await platform.token(viewer, { audience: new URL(platform.url).host, act });
    return (await platform.call("GET", `/v2/${repo.name}/manifests/v1`, { token })).status;
  };
  assert.equal(await pull({ scan: "a/scan" }), 200);
  assert.equal(await pull({ iss: "https://issuer.example.com", sub: "job", scan: "a/scan" }), 403);
  assert.equal(await pull({}), 403);
});

test("a preview lets everything pass, with one event for an image until its findings change, and one a day", async () => {
  const repo = await open({ on: ["PULL"], mode: "PREVIEW", severity: "CRITICAL" });
  const digest = await repo.push("v1", ["previewed", "1.0.0"], BAD);
  const clean = await repo.push("v2", CLEAN);
  // Those of this repo alone: rejections of the tests before are written some time after they were answered.
  const audited = async (): Promise<string[]> =>
    (
      await platform.reader
        .selectFrom("audit_entries")
        .select("details")
        .where("method", "=", "registry.read")
        .execute()
    )
      .map(({ details }) => details)
      .filter((details) => details.includes(repo.name));
  for (let n = 0; n < 20; n += 1) for (const tag of ["v1", "v2"]) assert.equal((await repo.pull(tag)).status, 200);
  assert.equal((await repo.pull(clean)).status, 200);
  const [event] = await repo.eventsUntil(1);
  const { findings, ...body } = event?.body ?? ({} as Partial<NonNullable<typeof event>["body"]>);
  assert.equal(event?.type, "registry.gate.previewed.v1");
  assert.deepEqual(
    { repository: body.repository, tag: body.tag, digest: body.digest, action: body.action, count: body.count },
    { repository: repo.name, tag: "v1", digest, action: "pull", count: 1 },
  );
  assert.deepEqual(findings, [
    {
      vulnerability: "CVE-2026-1",
      severity: "CRITICAL",
      kev: true,
      package: "pkg:npm/bad@1.0.0",
      fix_versions: ["2.0.0"],
      digest,
    },
  ]);
  await putRecords(platform, "previewed", "osv", [
    osvOf("CVE-2026-300", { ...affectedBefore("previewed", "2.0.0"), ...CRITICAL }),
  ]);
  let events = await repo.events();
  for (let left = 1_200; events.length < 2 && left > 0; left--) {
    assert.equal((await repo.pull("v1")).status, 200);
    events = await repo.events();
  }
  assert.deepEqual(
    events.map((each) => each.body.count),
    [1, 2],
  );
  const { offsetMs } = platform.clock;
  try {
    platform.clock.offsetMs = offsetMs + DAY_MS + 60_000;
    for (let n = 0; n < 5; n += 1) assert.equal((await repo.pull("v1")).status, 200);
    assert.equal((await repo.eventsUntil(3)).length, 3);
  } finally {
    platform.clock.offsetMs = offsetMs;
  }
  assert.deepEqual(await audited(), []);
});

test("a rejected pull emits an event with who asked, once for the image", async () => {
  const repo = await open(PULL);
  const digest = await repo.push("v1", BAD);
  for (let n = 0; n < 10; n += 1) assert.equal((await repo.pull(n % 2 === 0 ? "v1" : digest)).status, 403);
  const [event, ...more] = await repo.eventsUntil(1);
  assert.deepEqual(more, []);
  assert.deepEqual([event?.type, event?.body.digest], ["registry.gate.rejected.v1", digest]);
  assert.notEqual(event?.actor, "");
  assert.notEqual(event?.actor, platform.owner);
});
