import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { ADVISORIES, ADVISORY_EVENTS, type AdvisoryJson, holderOf } from "../../../server/test/support/advisories.ts";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import {
  deleteReference,
  pushArtifact,
  pushLayers,
  type PushTarget,
} from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { osvOf, putRecords } from "../../../server/test/support/feed-records.ts";
import { before as affectedBefore } from "../../../server/test/support/matching.ts";
import { type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// What the advisories of a group decide about the findings of its images.

interface Finding {
  vulnerability: string;
  repo: string;
  package: { name: string };
  state: string;
  openTime: string;
  closeTime?: string;
  closeReason: string;
  statement?: { justification: string };
  decision?: {
    advisory: string;
    advisoryId: string;
    type: string;
    justification: string;
    versions: string[];
    note: string;
    time: string;
  };
}

let platform: Platform;
let team = "";
let other = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  team = (await platform.group(platform.organization, { name: "team" })).uid;
  other = (await platform.group(platform.organization, { name: "other" })).uid;
});
after(() => platform.close());

interface Image extends PushTarget {
  repo: string;
  digest: string;
}

let count = 0;
/** A record of a new vulnerability in the package, for all versions before 9: its id. */
async function vulnerability(name: string, more: object = {}): Promise<string> {
  const id = `CVE-2026-${1_000 + (count += 1)}`;
  await putRecords(platform, "osv", "osv", [
    osvOf(`OSV-${count}`, { aliases: [id], ...affectedBefore(name, "9.0.0"), ...more }),
  ]);
  return id;
}

/** An image with these packages in a new repo of the group. */
async function image(group: string, packages: readonly string[], version = "1.2.0"): Promise<Image> {
  const name = `app-${(count += 1)}`;
  const { uid: repo } = await platform.repo(group, { name });
  const path = group === platform.organization ? name : `${group === team ? "team" : "other"}/${name}`;
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const target = { url: platform.url, token, name: `${platform.bootstrap.organization.name}/${path}` };
  const files = [...packages.map((each) => npmFile("app", each, version)), { path: `m-${count}` }];
  return { ...target, repo, digest: await pushLayers(target, "v1", [tarOf(files)]) };
}

async function list({ repo }: Pick<Image, "repo">, query: string, token?: string): Promise<Finding[]> {
  const path = `/vulnerabilities/v2/findings?repo=${repo}&pageSize=200&${query}`;
  const answer = await platform.call("GET", path, { token: token ?? (await platform.token()) });
  assert.equal(answer.status, 200, answer.text);
  return (answer.body["findings"] ?? []) as Finding[];
}

/** Waits until so many findings are open, and answers them. */
async function opened(image: Image, wanted: number): Promise<Finding[]> {
  return await eventually(async () => {
    const found = await list(image, "");
    return found.length === wanted && found;
  });
}

const asOf = (ms: number): string => `asOf=${new Date(ms).toISOString()}`;
/** A time that is later than all before, and earlier than all to come. */
async function between(): Promise<number> {
  await wait(3);
  const ms = Date.now();
  await wait(3);
  return ms;
}

async function advise(group: string, fields: object, ...events: object[]): Promise<AdvisoryJson> {
  const approved = events.map((event) => ({ reviewState: "APPROVED", ...event }));
  return (await platform.ok("POST", `${ADVISORIES}/${group}`, { ...fields, events: approved })) as AdvisoryJson;
}
const add = (advisory: string, event: object): Promise<Json> =>
  platform.ok("POST", `${ADVISORIES}/${advisory}/events`, { reviewState: "APPROVED", ...event });
const review = (event: string, reviewState: string): Promise<Json> =>
  platform.ok("PATCH", `${ADVISORY_EVENTS}/${event}`, { reviewState });
const falsePositive = (type: string, note = ""): object => ({ falsePositiveDetermination: { type, note } });
const NOT_RUN = falsePositive("TYPE_VULNERABLE_CODE_NOT_IN_EXECUTION_PATH", "It is never called.");
const NPM = (artifactName: string, alias: string): object => ({ artifactName, artifactType: "NPM", aliases: [alias] });

test("each kind of event closes the finding or leaves it open, and stands beside it", async () => {
  const cases: [event: object, closeReason: string, type: string, justification: string, versions?: string[]][] = [
    [{ fixed: { fixedVersion: "1.2.0" } }, "ADVISORY_FIXED", "FIXED", "", ["1.2.0"]],
    [{ fixed: { fixedVersion: "1.1.9" } }, "ADVISORY_FIXED", "FIXED", "", ["1.1.9"]],
    [{ fixed: { fixedVersion: "1.2.1" } }, "", "FIXED", "", ["1.2.1"]],
    [{ patched: { patchedVersions: ["1.0.0", "1.2.0"] } }, "ADVISORY_PATCHED", "PATCHED", "", ["1.0.0", "1.2.0"]],
    [{ patched: { patchedVersions: ["1.1.0"] } }, "", "PATCHED", "", ["1.1.0"]],
    ...(
      [
        ["VULNERABILITY_RECORD_ANALYSIS_CONTESTED", "vulnerable_code_not_present"],
        ["COMPONENT_VULNERABILITY_MISMATCH", "component_not_present"],
        ["VULNERABLE_CODE_VERSION_NOT_USED", "vulnerable_code_not_present"],
        ["VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE", "vulnerable_code_not_present"],
        ["VULNERABLE_CODE_NOT_IN_EXECUTION_PATH", "vulnerable_code_not_in_execute_path"],
        ["VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY", "vulnerable_code_cannot_be_controlled_by_adversary"],
        ["INLINE_MITIGATIONS_EXIST", "inline_mitigations_already_exist"],
      ] as const
    ).map(
      ([type, justification]) =>
        [falsePositive(`TYPE_${type}`), "ADVISORY_FALSE_POSITIVE", "FALSE_POSITIVE_DETERMINATION", justification] as [
          object,
          string,
          string,
          string,
        ],
    ),
    [{ detection: { manual: {} } }, "", "DETECTION", ""],
    [{ truePositiveDetermination: {} }, "", "TRUE_POSITIVE_DETERMINATION", ""],
    [{ analysisNotPlanned: {} }, "", "ANALYSIS_NOT_PLANNED", ""],
    [{ fixNotPlanned: {} }, "", "FIX_NOT_PLANNED", ""],
    [{ pendingUpstreamFix: {} }, "", "PENDING_UPSTREAM_FIX", ""],
  ];
  const names = cases.map((_, n) => `kind-${n}`);
  const ids = [];
  for (const name of names) ids.push(await vulnerability(name));
  const held = await image(team, names);
  const before = await opened(held, names.length);
  assert.ok(before.every(({ decision }) => decision === undefined));
  const made: AdvisoryJson[] = [];
  for (const [n, [event]] of cases.entries()) made.push(await advise(team, NPM(names[n] ?? "", ids[n] ?? ""), event));
  const found = [...(await list(held, "state=OPEN")), ...(await list(held, "state=CLOSED"))];
  assert.equal(found.length, cases.length);
  for (const [n, [, closeReason, type, justification, versions = []]] of cases.entries()) {
    const finding = found.find((each) => each.package.name === names[n]);
    const { decision } = finding ?? {};
    assert.deepEqual(
      [finding?.state, finding?.closeReason, decision?.type, decision?.justification, decision?.versions],
      [
        closeReason === "" ? "FINDING_STATE_OPEN" : "FINDING_STATE_CLOSED",
        closeReason,
        `EVENT_TYPE_FILTER_${type}`,
        justification,
        versions,
      ],
      type,
    );
    assert.deepEqual(
      [decision?.advisory, decision?.advisoryId, decision?.time],
      [made[n]?.uid, made[n]?.advisoryId, made[n]?.events[0]?.createTime],
    );
  }
});

test("the latest approved event decides, as long as it is approved and its advisory there; as of a time, that of then", async () => {
  const alias = await vulnerability("steps");
  const held = await image(team, ["steps"]);
  const [first] = await opened(held, 1);
  assert.ok(first !== undefined);
  const steps: [atMs: number, closed: string][] = [[await between(), ""]];
  const after = async (closed: string): Promise<void> => {
    const now = await list(held, "state=CLOSED");
    assert.deepEqual(
      now.map(({ closeReason }) => closeReason),
      closed === "" ? [] : [closed],
    );
    assert.equal((await list(held, "")).length, closed === "" ? 1 : 0);
    // It was open all the time, as far as the records go.
    for (const { openTime } of [...now, ...(await list(held, ""))]) assert.equal(openTime, first.openTime);
    steps.push([await between(), closed]);
  };
  const { uid } = await advise(team, NPM("steps", alias), { ...NOT_RUN, reviewState: "PENDING" });
  await after("");
  const [waiting] = ((await platform.ok("GET", `${ADVISORIES}/${uid}`)) as AdvisoryJson).events;
  assert.ok(waiting !== undefined);
  await review(waiting.uid, "APPROVED");
  await after("ADVISORY_FALSE_POSITIVE");
  const { uid: later } = await add(uid, { ...NOT_RUN, reviewState: "PENDING" });
  await after("ADVISORY_FALSE_POSITIVE");
  const { uid: pending } = await add(uid, { pendingUpstreamFix: {} });
  await after("");
  // An earlier event that is approved late is not the latest.
  await review(later, "APPROVED");
  await after("");
  await review(pending, "REJECTED");
  await after("ADVISORY_FALSE_POSITIVE");
  await review(later, "PENDING");
  await review(waiting.uid, "PENDING");
  await after("");
  await review(waiting.uid, "APPROVED");
  await after("ADVISORY_FALSE_POSITIVE");
  await platform.ok("PATCH", `${ADVISORIES}/${uid}`, { aliases: ["CVE-1999-1"] });
  await after("");
  await platform.ok("PATCH", `${ADVISORIES}/${uid}`, { aliases: [alias.toLowerCase()] });
  await after("ADVISORY_FALSE_POSITIVE");
  await platform.ok("DELETE", `${ADVISORIES}/${uid}`);
  await after("");
  for (const [atMs, closed] of steps) {
    const found = await list(held, `state=CLOSED&${asOf(atMs)}`);
    assert.deepEqual(
      found.map(({ closeReason, decision }) => [closeReason, decision?.justification]),
      closed === "" ? [] : [[closed, "vulnerable_code_not_in_execute_path"]],
    );
    assert.equal((await list(held, asOf(atMs))).length, closed === "" ? 1 : 0);
  }
});

test("an advisory decides in the repos at and below its group, one about an image in that alone", async () => {
  const alias = await vulnerability("scoped");
  const [one, two, three] = [
    await image(team, ["scoped"]),
    await image(team, ["scoped"]),
    await image(other, ["scoped"]),
  ];
  for (const each of [one, two, three]) await opened(each, 1);
  const closed = async (): Promise<boolean[]> => {
    const found = [];
    for (const each of [one, two, three]) found.push((await list(each, "state=CLOSED")).length === 1);
    return found;
  };
  const cases: [group: string, fields: object, closed: boolean[]][] = [
    [team, { artifactName: "scoped", artifactType: "NPM" }, [true, true, false]],
    [platform.organization, { artifactName: "scoped", artifactType: "npm" }, [true, true, true]],
    [platform.organization, { artifactName: "scoped" }, [true, true, true]],
    [platform.organization, { artifactName: "pkg:npm/scoped@1.2.0", artifactType: "NPM" }, [true, true, true]],
    [platform.organization, { artifactName: "scoped", artifactType: "PYPI" }, [false, false, false]],
    [platform.organization, { artifactName: "another", artifactType: "NPM" }, [false, false, false]],
    [platform.organization, { artifactName: one.name, artifactType: "OCI_IMAGE" }, [true, false, false]],
    [team, { artifactName: three.name, artifactType: "OCI_IMAGE" }, [false, false, false]],
    [platform.organization, { artifactName: "scoped", artifactType: "OCI_IMAGE" }, [false, false, false]],
    ...(
      [
        [{ componentName: "scoped" }, true],
        [{ componentName: "scoped", componentType: "npm" }, true],
        [{ componentName: "scoped", componentType: "go-module" }, false],
        [{ componentName: "another" }, false],
        [{ componentType: "go-module" }, false],
        [{ componentLocation: "/app/node_modules/scoped/package.json" }, true],
        [{ componentLocation: "elsewhere" }, false],
        [{ artifactArchitecture: "x86_64" }, true],
        [{ artifactArchitecture: "arm64" }, false],
      ] as const
    ).map(([fields, isClosed]): [string, object, boolean[]] => [
      team,
      { artifactName: one.name, artifactType: "OCI_IMAGE", ...fields },
      [isClosed, false, false],
    ]),
    // Which package another one lies in is not known.
    [team, { artifactName: "holder", artifactType: "APK", componentName: "scoped" }, [false, false, false]],
    [team, { artifactName: "scoped", artifactType: "NPM", componentName: "scoped" }, [true, true, false]],
  ];
  for (const [group, fields, expected] of cases) {
    const { uid } = await advise(group, { ...fields, aliases: [alias] }, NOT_RUN);
    assert.deepEqual(await closed(), expected, JSON.stringify(fields));
    await platform.ok("DELETE", `${ADVISORIES}/${uid}`);
  }
  assert.deepEqual(await closed(), [false, false, false]);
  // A version of an image cannot be compared with one of a package.
  await advise(
    team,
    { artifactName: one.name, artifactType: "OCI_IMAGE", aliases: [alias] },
    { fixed: { fixedVersion: "1.0.0" } },
  );
  assert.deepEqual(await closed(), [false, false, false]);
});

test("of several advisories the one about the image counts, then the latest that says something of the version", async () => {
  const alias = await vulnerability("several");
  const held = await image(team, ["several"]);
  await opened(held, 1);
  const reason = async (): Promise<string> => (await list(held, "state=CLOSED"))[0]?.closeReason ?? "";
  await advise(platform.organization, NPM("several", alias), NOT_RUN);
  assert.equal(await reason(), "ADVISORY_FALSE_POSITIVE");
  const own = await advise(team, NPM("several", alias), { fixed: { fixedVersion: "1.5.0" } });
  assert.equal(await reason(), "ADVISORY_FALSE_POSITIVE", "it says nothing of this version");
  await add(own.uid, { truePositiveDetermination: {} });
  assert.equal(await reason(), "");
  await advise(team, { artifactName: held.name, artifactType: "OCI_IMAGE", aliases: [alias] }, NOT_RUN);
  await add(own.uid, { fixNotPlanned: {} });
  assert.equal(await reason(), "ADVISORY_FALSE_POSITIVE");
});

test("an advisory counts more than an attached statement, and an image that is pushed later finds it", async () => {
  const alias = await vulnerability("attached");
  const made = await advise(team, NPM("attached", alias), NOT_RUN);
  const held = await image(team, ["attached", "marker"]);
  await vulnerability("marker");
  await opened(held, 1);
  const reasons = async (): Promise<string[]> =>
    (await list(held, "state=CLOSED")).map(({ closeReason }) => closeReason);
  assert.deepEqual(await reasons(), ["ADVISORY_FALSE_POSITIVE"]);
  const openVex = JSON.stringify({
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": "https://acme.example/vex/1",
    author: "Acme",
    timestamp: "2026-11-01T08:00:00Z",
    version: 1,
    statements: [
      {
        vulnerability: { name: alias },
        products: [{ "@id": "pkg:npm/attached@1.2.0" }],
        status: "not_affected",
        justification: "component_not_present",
      },
    ],
  });
  const type = "application/openvex+json";
  const manifest = await pushArtifact(held, {
    artifactType: type,
    subject: held.digest,
    layers: [{ mediaType: type, content: openVex }],
  });
  await add(made.uid, { detection: { manual: {} } });
  const until = async (expected: string[]): Promise<void> => {
    await eventually(async () => (await reasons()).join() === expected.join(), { instead: reasons });
  };
  await until(["VEX_NOT_AFFECTED"]);
  const { uid: affected } = await add(made.uid, { truePositiveDetermination: {} });
  assert.deepEqual(await reasons(), []);
  await review(affected, "REJECTED");
  assert.deepEqual(await reasons(), ["VEX_NOT_AFFECTED"]);
  await deleteReference(held, manifest);
  await until([]);
});

test("what is said of one CVE leaves a record of several open", async () => {
  const second = "CVE-2026-900";
  const alias = await vulnerability("bundle", { aliases: ["CVE-2026-899", second] });
  const held = await image(team, ["bundle"]);
  const [open] = await opened(held, 1);
  await advise(team, NPM("bundle", second), NOT_RUN);
  await opened(held, 1);
  await advise(team, NPM("bundle", open?.vulnerability ?? ""), NOT_RUN);
  assert.equal((await list(held, "state=CLOSED")).length, 1);
  assert.ok(alias !== second);
});

test("who may not read the advisory sees which one decided and why, and no more", async () => {
  const alias = await vulnerability("rights");
  const held = await image(team, ["rights"]);
  await opened(held, 1);
  const { uid, advisoryId } = await advise(team, NPM("rights", alias), NOT_RUN);
  const may = ["CAP_REPO_LIST", "CAP_TAG_LIST", "CAP_MANIFEST_METADATA_LIST"];
  const [viewer, reader] = [
    await holderOf(platform, team, may),
    await holderOf(platform, team, [...may, "CAP_ADVISORIES_LIST"]),
  ];
  const seen = async (token: string): Promise<Partial<NonNullable<Finding["decision"]>>> =>
    (await list(held, "state=CLOSED", token))[0]?.decision ?? {};
  const { advisory, note, justification, advisoryId: id } = await seen(viewer.token);
  assert.deepEqual([advisory, note, justification, id], ["", "", "vulnerable_code_not_in_execute_path", advisoryId]);
  const read = await seen(reader.token);
  assert.deepEqual([read.advisory, read.note], [uid, "It is never called."]);
});

test("what a deleted advisory said goes with its group", async () => {
  const { uid: group } = await platform.group(platform.organization, { name: "short" });
  const { uid } = await advise(group, NPM("short", "CVE-2026-1"), NOT_RUN);
  await platform.ok("DELETE", `${ADVISORIES}/${uid}`);
  const left = async (): Promise<number[]> =>
    await Promise.all(
      (["advisory_decisions", "advisory_decision_ids"] as const).map(
        async (table) =>
          (await platform.reader.selectFrom(table).select("advisory").where("advisory", "=", uid).execute()).length,
      ),
    );
  assert.deepEqual(await left(), [1, 1]);
  await platform.ok("DELETE", `/iam/v2/groups/${group}`);
  assert.deepEqual(await left(), [0, 0]);
});
