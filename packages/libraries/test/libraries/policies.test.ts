// Policies of groups as resources, and what they say about versions.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ORIGIN } from "../../src/libraries/artifacts/names.ts";
import type { Gate } from "../../src/libraries/policies/gate.ts";
import { shown, type VersionFacts } from "../../src/libraries/policies/judge.ts";
import { osvOf, putRecords } from "../../../server/test/support/feed-records.ts";
import { type Answer, type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { gateOf, newPolicy } from "../../../server/test/support/policies.ts";

let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.close());

const DAY_MS = 86_400_000;
const PATH = "/libraries/v2/artifactPolicies";
const team = async (parent = platform.organization): Promise<string> => (await platform.group(parent)).uid;
const ask = async (method: string, path: string, body?: object, token?: string): Promise<Answer> =>
  await platform.call(method, path, { token: token ?? (await platform.token()), body });
const facts = (version: string, given: Partial<VersionFacts> = {}): VersionFacts => ({
  version,
  origin: ORIGIN.upstream,
  publishMs: 0,
  license: "MIT",
  ...given,
});
const reasonOf = (gate: Gate, version: string, given: Partial<VersionFacts> = {}): string | undefined =>
  gate.verdictOn(facts(version, given))?.reason;
const fieldsOf = ({ body }: Answer): string[] =>
  body.details.flatMap(({ fieldViolations = [] }) => fieldViolations.map(({ field }) => field));

test("a policy that says nothing previews a cooldown of seven days and blocks malware", async () => {
  const group = await team();
  const made = await platform.ok("POST", `${PATH}/${group}`, { ecosystem: "ECOSYSTEM_JAVASCRIPT" });
  const { uid, createTime: _, updateTime: __, ...rest } = made;
  assert.ok(uid.startsWith(`${group}/`), uid);
  assert.deepEqual(
    { ...rest },
    {
      ecosystem: "ECOSYSTEM_JAVASCRIPT",
      description: "",
      mode: "POLICY_MODE_PREVIEW",
      cooldown: "604800s",
      blockMalware: true,
      blockedPurls: [],
      allowedPurls: [],
      allowedLicenses: [],
      deniedLicenses: [],
      unknownLicense: "UNKNOWN_LICENSE_ALLOW",
    },
  );
  assert.deepEqual(await platform.ok("GET", `${PATH}/${uid}`), made);
});

test("an update changes what its mask names, and a field that is cleared gets its usual value", async () => {
  const group = await team();
  const { uid } = await newPolicy(platform, group, { cooldown: "0s", blockMalware: false, deniedLicenses: ["GPL-*"] });
  const patch = (mask: string, body: object): Promise<Json> =>
    platform.ok("PATCH", `${PATH}/${uid}?update_mask=${mask}`, body);
  const changed = await patch("mode,blockedPurls", { mode: "PREVIEW", blockedPurls: ["pkg:npm/x"], cooldown: "5s" });
  assert.deepEqual(
    [changed["mode"], changed["blockedPurls"], changed["cooldown"], changed["deniedLicenses"]],
    ["POLICY_MODE_PREVIEW", ["pkg:npm/x"], "0s", ["GPL-*"]],
  );
  const cleared = await patch("cooldown", {});
  assert.deepEqual([cleared["cooldown"], cleared["blockMalware"]], ["604800s", false]);
  const immutable = await ask("PATCH", `${PATH}/${uid}?update_mask=ecosystem`, { ecosystem: "ECOSYSTEM_JAVA" });
  assert.equal(immutable.status, 400, immutable.text);
});

test("what is wrong with a policy is said of each of its fields, and nothing is made", async () => {
  const group = await team();
  const answer = await ask("POST", `${PATH}/${group}`, {
    ecosystem: "ECOSYSTEM_JAVASCRIPT",
    description: "d".repeat(4_097),
  });
  assert.deepEqual([answer.status, fieldsOf(answer)], [400, ["description"]]);
  assert.deepEqual(fieldsOf(await ask("POST", `${PATH}/${group}`, {})), ["ecosystem"]);
  const bad = await ask("POST", `${PATH}/${group}`, {
    ecosystem: "ECOSYSTEM_JAVASCRIPT",
    cooldown: "-1s",
    blockedPurls: ["pkg:npm/fine", "pkg:pypi/x", "left-pad"],
    allowedPurls: ["pkg:npm/x?vers=vers:npm/nonsense"],
    allowedLicenses: ["MIT OR ISC"],
    deniedLicenses: ["GPL-*", "*GPL"],
  });
  assert.deepEqual(
    [bad.status, fieldsOf(bad)],
    [
      400,
      ["cooldown", "blockedPurls[1]", "blockedPurls[2]", "allowedPurls[0]", "allowedLicenses[0]", "deniedLicenses[1]"],
    ],
  );
  assert.match(bad.text, /must be a package URL of pkg:npm\//);
  assert.equal((await platform.ok<Json>("GET", `${PATH}?uidp.children_of=${group}`)).totalCount, "0");
});

test("a group has one policy for each ecosystem, which keeps it from being deleted", async () => {
  const group = await team();
  const { uid } = await newPolicy(platform, group, {});
  await newPolicy(platform, group, { ecosystem: "ECOSYSTEM_PYTHON" });
  const again = await ask("POST", `${PATH}/${group}`, { ecosystem: "ECOSYSTEM_JAVASCRIPT" });
  assert.deepEqual([again.status, again.body.message], [409, `ArtifactPolicy already exists: ${group} JAVASCRIPT`]);
  const list = await platform.ok<Json>("GET", `${PATH}?uidp.children_of=${group}&ecosystem=ECOSYSTEM_JAVASCRIPT`);
  assert.deepEqual(
    (list["artifactPolicies"] as Json[]).map((policy) => policy.uid),
    [uid],
  );
  const kept = await ask("DELETE", `/iam/v2/groups/${group}`);
  assert.equal(kept.status, 400);
  assert.match(kept.text, /still has policies of libraries: 2/);
  await platform.ok("DELETE", `${PATH}/${uid}`);
  assert.equal((await ask("GET", `${PATH}/${uid}`)).status, 404);
});

test("editors change policies, viewers see them and change nothing, strangers see nothing", async () => {
  const group = await team();
  const { uid } = await newPolicy(platform, group, {});
  const as = async (role: string): Promise<string> => platform.token(await platform.identity(group, role));
  const [editor, viewer, stranger] = [
    await as("editor"),
    await as("viewer"),
    await platform.token(await platform.identity(await team(), "owner")),
  ];
  const patch = (token: string): Promise<Answer> => ask("PATCH", `${PATH}/${uid}`, { description: "changed" }, token);
  assert.equal((await patch(editor)).status, 200);
  assert.equal((await patch(viewer)).status, 403);
  assert.equal((await ask("DELETE", `${PATH}/${uid}`, undefined, viewer)).status, 403);
  assert.equal((await ask("GET", `${PATH}/${uid}`, undefined, viewer)).status, 200);
  assert.equal((await ask("GET", `${PATH}/${uid}`, undefined, stranger)).status, 404);
  assert.equal((await patch(stranger)).status, 404);
});

test("the policy of the nearest group counts, whole, and that above when it is deleted", async () => {
  const above = await team();
  const middle = await team(above);
  const below = await team(middle);
  assert.equal((await gateOf(platform, below, "x")).mode, "none");
  await newPolicy(platform, above, { blockedPurls: ["pkg:npm/x"], cooldown: "0s" });
  assert.equal(reasonOf(await gateOf(platform, below, "x"), "1.0.0"), "purl");
  assert.equal((await gateOf(platform, below, "x", "pypi")).mode, "none");
  const { uid } = await newPolicy(platform, middle, { mode: "POLICY_MODE_PREVIEW", cooldown: "0s" });
  const nearest = await gateOf(platform, below, "x");
  assert.deepEqual([nearest.mode, reasonOf(nearest, "1.0.0")], ["preview", undefined]);
  assert.equal(reasonOf(await gateOf(platform, above, "x"), "1.0.0"), "purl");
  await platform.ok("DELETE", `${PATH}/${uid}`);
  assert.equal(reasonOf(await gateOf(platform, below, "x"), "1.0.0"), "purl");
});

test("a version opens when its cooldown is over, to the millisecond, and an own one is always open", async () => {
  const group = await team();
  await newPolicy(platform, group, { cooldown: "86400s", deniedLicenses: ["GPL-*"] });
  const gate = await gateOf(platform, group, "x");
  const nowMs = platform.clock.nowMs();
  const publishMs = nowMs - DAY_MS / 2;
  const verdict = gate.verdictOn(facts("1.0.0", { publishMs }));
  assert.deepEqual([verdict?.reason, verdict?.opensMs], ["cooldown", publishMs + DAY_MS]);
  assert.equal(reasonOf(gate, "1.0.0", { publishMs: nowMs - DAY_MS - 1_000 }), undefined);
  assert.equal(gate.verdictOn(facts("1.0.0", { publishMs: undefined }))?.opensMs, undefined);
  assert.equal(reasonOf(gate, "1.0.0", { publishMs: undefined }), "cooldown");
  assert.equal(reasonOf(gate, "1.0.0", { publishMs, origin: ORIGIN.published, license: "GPL-3.0-only" }), undefined);
  const { visible, hidden, nextMs } = shown(
    gate,
    [facts("1.0.0"), facts("1.1.0", { publishMs }), facts("1.2.0", { publishMs: publishMs + 1 })],
    (each) => each,
  );
  assert.deepEqual(
    visible.map(({ version }) => version),
    ["1.0.0"],
  );
  assert.deepEqual(
    hidden.map(({ version }) => version),
    ["1.1.0", "1.2.0"],
  );
  assert.equal(nextMs, publishMs + DAY_MS);
});

test("in preview nothing is hidden, and what would be is known", async () => {
  const group = await team();
  await newPolicy(platform, group, { mode: "POLICY_MODE_PREVIEW", blockedPurls: ["pkg:npm/x@1.1.0"] });
  const { visible, hidden } = shown(
    await gateOf(platform, group, "x"),
    [facts("1.0.0"), facts("1.1.0")],
    (each) => each,
  );
  assert.equal(visible.length, 2);
  assert.deepEqual(
    hidden.map(({ version, verdict }) => [version, verdict.reason]),
    [["1.1.0", "purl"]],
  );
});

test("a block wins over what is allowed; what is allowed opens cooldown and licenses", async () => {
  const group = await team();
  await newPolicy(platform, group, {
    blockedPurls: ["pkg:npm/@acme/ui@2.0.0"],
    allowedPurls: ["pkg:npm/%40acme/*"],
    allowedLicenses: ["MIT"],
    unknownLicense: "UNKNOWN_LICENSE_BLOCK",
  });
  const acme = await gateOf(platform, group, "@acme/ui");
  const young = { publishMs: platform.clock.nowMs() };
  assert.equal(reasonOf(acme, "1.0.0", { ...young, license: "GPL-3.0-only" }), undefined);
  assert.deepEqual(acme.verdictOn(facts("2.0.0", young)), {
    reason: "purl",
    detail: "pkg:npm/@acme/ui@2.0.0",
    opensMs: undefined,
  });
  assert.equal(reasonOf(acme, "2.0.0", { origin: ORIGIN.published }), "purl");
  const other = await gateOf(platform, group, "other");
  assert.equal(reasonOf(other, "1.0.0", young), "cooldown");
  assert.deepEqual(
    ["MIT", "GPL-3.0-only", "", undefined, null, "ISC OR MIT"].map((license) => reasonOf(other, "1.0.0", { license })),
    [undefined, "license", "license", "license", undefined, undefined],
  );
  // What never opens is said first.
  assert.equal(reasonOf(other, "1.0.0", { ...young, license: "GPL-3.0-only" }), "license");
});

test("a record of malware blocks the versions that it affects, and only an exact package URL opens one", async () => {
  const affected = (name: string, events: object[]): object => ({
    affected: [{ package: { ecosystem: "npm", name }, ranges: [{ type: "SEMVER", events }] }],
  });
  const [group, exact, wide, off] = [await team(), await team(), await team(), await team()];
  const common = { cooldown: "0s" };
  await newPolicy(platform, group, common);
  await newPolicy(platform, exact, { ...common, allowedPurls: ["pkg:npm/evil@1.2.0"] });
  await newPolicy(platform, wide, { ...common, allowedPurls: ["pkg:npm/evil", "pkg:npm/*"] });
  await newPolicy(platform, off, { ...common, blockMalware: false });
  const before = await gateOf(platform, group, "evil");
  assert.equal(reasonOf(before, "1.2.0"), undefined);
  await putRecords(platform, "osv", "osv", [
    osvOf("MAL-2026-7", affected("evil", [{ introduced: "1.1.0" }, { fixed: "1.3.0" }])),
    osvOf("GHSA-aaaa-bbbb-cccc", affected("evil", [{ introduced: "0" }])),
    osvOf("MAL-2026-8", { withdrawn: "2026-01-01T00:00:00Z", ...affected("evil", [{ introduced: "0" }]) }),
  ]);
  const gate = await gateOf(platform, group, "evil");
  assert.notEqual(gate.key, before.key, "documents in memory are made anew");
  assert.deepEqual(gate.verdictOn(facts("1.2.0")), { reason: "malware", detail: "MAL-2026-7", opensMs: undefined });
  assert.deepEqual(
    ["1.0.0", "1.3.0"].map((version) => reasonOf(gate, version)),
    [undefined, undefined],
  );
  assert.equal(reasonOf(gate, "1.2.0", { origin: ORIGIN.published }), undefined);
  assert.equal(reasonOf(await gateOf(platform, group, "fine"), "1.2.0"), undefined);
  const opened = await gateOf(platform, exact, "evil");
  assert.deepEqual([reasonOf(opened, "1.2.0"), reasonOf(opened, "1.2.1")], [undefined, "malware"]);
  assert.equal(reasonOf(await gateOf(platform, wide, "evil"), "1.2.0"), "malware");
  assert.equal(reasonOf(await gateOf(platform, off, "evil"), "1.2.0"), undefined);
});

test("a record of malware blocks an old package of npm that has upper-case letters, and no other of its letters", async () => {
  const group = await team();
  await newPolicy(platform, group, { cooldown: "0s" });
  const affected = [{ package: { ecosystem: "npm", name: "EvilStream" }, versions: ["1.0.0"] }];
  await putRecords(platform, "osv", "osv", [osvOf("MAL-2026-31", { affected })]);
  assert.equal(reasonOf(await gateOf(platform, group, "EvilStream"), "1.0.0"), "malware");
  assert.equal(reasonOf(await gateOf(platform, group, "evilstream"), "1.0.0"), undefined);
});

test("the key of a gate changes with the rules and with nothing else", async () => {
  const group = await team();
  const { uid } = await newPolicy(platform, group, {});
  const first = (await gateOf(platform, group, "x")).key;
  await platform.ok("PATCH", `${PATH}/${uid}?update_mask=description`, { description: "other words" });
  assert.equal((await gateOf(platform, group, "x")).key, first);
  await platform.ok("PATCH", `${PATH}/${uid}?update_mask=cooldown`, { cooldown: "1s" });
  assert.notEqual((await gateOf(platform, group, "x")).key, first);
});
