// Which versions of libraries a vulnerability hits, which vulnerabilities a version has, and what says that a version
// is fixed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Ecosystem } from "@moorage/api/messages";
import { openVex } from "../../../security/src/security/vex/records.ts";
import { ADVISORIES, newAdvisory } from "../../../server/test/support/advisories.ts";
import { addArtifact } from "../../../server/test/support/artifacts.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { osvOf, plainRecord, putRecords } from "../../../server/test/support/feed-records.ts";
import { CRITICAL } from "../../../server/test/support/gated-repo.ts";
import { type Answer, blamed, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

interface Finding {
  vulnerability: string;
  aliases: string[];
  artifact: string;
  artifactVersion: string;
  name: string;
  version: string;
  fixVersions: string[];
  malware: boolean;
}

interface Page {
  libraryFindings: Finding[];
  coverage: { ecosystem: string; state: string; preset: string }[];
  notCompared: { name: string; version: string; ecosystem: string }[];
  notComparedTotal: number;
}

let platform: Platform;
let [team, sub, other] = ["", "", ""];
const uids: Record<string, string> = {};

const affected = (ecosystem: string, name: string, ...events: object[]): object => ({
  affected: [
    { package: { ecosystem, name }, ranges: [{ type: ecosystem === "npm" ? "SEMVER" : "ECOSYSTEM", events }] },
  ],
});

before(async () => {
  platform = await startPlatform();
  team = (await platform.group(platform.organization, { name: "team" })).uid;
  sub = (await platform.group(team, { name: "below" })).uid;
  other = (await platform.group(platform.organization, { name: "other" })).uid;
  const add = async (key: string, group: string, name: string, versions: number, ecosystem?: Ecosystem) => {
    const made = await addArtifact(platform, group, { name, versions, ...(ecosystem && { ecosystem }) });
    uids[key] = made.uid;
  };
  await add("pad", team, "@acme/pad", 4);
  await add("below", sub, "@acme/pad", 2);
  await add("flask", other, "flask", 2, Ecosystem.PYTHON);
  await add("log", other, "org.example:log", 2, Ecosystem.JAVA);
  await add("evil", other, "evil", 1);
  await add("fine", team, "fine", 3);
  await putRecords(platform, "github", "osv", [
    osvOf("GHSA-aaaa-bbbb-cccc", {
      aliases: ["CVE-2026-1"],
      summary: "Pads too far",
      ...CRITICAL,
      ...affected("npm", "@acme/pad", { introduced: "1.0.1" }, { fixed: "1.0.3" }),
    }),
    osvOf("GHSA-dddd-eeee-ffff", affected("npm", "@acme/pad", { introduced: "0" }, { last_affected: "1.0.0" })),
    osvOf("GHSA-gggg-hhhh-iiii", {
      aliases: ["CVE-2026-2"],
      ...affected("Maven", "org.example:log", { introduced: "0" }, { fixed: "1.0.1" }),
    }),
    osvOf("GHSA-gone-gone-gone", {
      withdrawn: "2026-01-01T00:00:00Z",
      ...affected("npm", "fine", { introduced: "0" }),
    }),
  ]);
  // The same vulnerability by an alias alone, and one package of another registry with the same name.
  await putRecords(platform, "npm", "osv", [
    osvOf("NPM-7", {
      aliases: ["GHSA-aaaa-bbbb-cccc"],
      ...affected("npm", "@acme/pad", { introduced: "1.0.1" }, { fixed: "1.0.2" }),
    }),
    osvOf("PYSEC-1", {
      aliases: ["CVE-2026-1"],
      ...affected("PyPI", "Flask", { introduced: "0" }, { fixed: "1.0.1" }),
    }),
  ]);
  await putRecords(platform, "malware", "osv", [osvOf("MAL-2026-9", affected("npm", "evil", { introduced: "0" }))]);
  await putRecords(platform, "kev", "kev", [plainRecord("CVE-2026-1")]);
});
after(() => platform.close());

async function ask(query: string, token?: string): Promise<Answer> {
  return await platform.call("GET", `/libraries/v2/findings?${query}`, { token: token ?? (await platform.token()) });
}

async function list(query: string, token?: string): Promise<Finding[]> {
  const { status, body, text } = await ask(query, token);
  assert.equal(status, 200, text);
  return (body["libraryFindings"] as Finding[] | undefined) ?? [];
}

const shorts = async (query: string, token?: string): Promise<string[]> => (await list(query, token)).map(short).sort();
function short({ artifact, version, vulnerability }: Finding): string {
  return `${Object.keys(uids).find((key) => uids[key] === artifact)} ${version} ${vulnerability}`;
}

test("a vulnerability hits versions of libraries, by its id or an alias, with the versions that fix them", async () => {
  const hit = ["below 1.0.1 CVE-2026-1", "flask 1.0.0 CVE-2026-1", "pad 1.0.1 CVE-2026-1", "pad 1.0.2 CVE-2026-1"];
  for (const id of ["CVE-2026-1", "cve-2026-1", "GHSA-AAAA-bbbb-cccc", "NPM-7", "PYSEC-1"])
    assert.deepEqual(await shorts(`vulnerabilities=${id}`), hit, id);
  const [found] = await list(`vulnerabilities=CVE-2026-1&artifact=${uids["pad"]}&version=1.0.1`);
  assert.deepEqual(found, {
    vulnerability: "CVE-2026-1",
    aliases: ["GHSA-aaaa-bbbb-cccc", "NPM-7", "PYSEC-1"],
    summary: "Pads too far",
    artifact: uids["pad"],
    artifactVersion: found?.artifactVersion,
    ecosystem: "ECOSYSTEM_JAVASCRIPT",
    name: "@acme/pad",
    version: "1.0.1",
    purl: "pkg:npm/%40acme/pad@1.0.1",
    severity: "FINDING_SEVERITY_CRITICAL",
    score: 9.8,
    kev: true,
    malware: false,
    fixState: "FIX_STATE_FIXED",
    fixVersions: ["1.0.2", "1.0.3"],
    lastAffectedVersions: [],
    records: [
      { feed: "github", id: "GHSA-aaaa-bbbb-cccc", licence: "CC-BY-4.0" },
      { feed: "npm", id: "NPM-7", licence: "CC-BY-4.0" },
    ],
  });
  assert.ok(found?.artifactVersion.startsWith(`${uids["pad"]}/`));
  assert.deepEqual(await shorts("vulnerabilities=CVE-1999-1"), []);
  assert.deepEqual(await shorts("vulnerabilities=CVE-2026-2"), ["log 1.0.0 CVE-2026-2"]);
});

test("the other way: what a version has, or a library, or all that the caller may list", async () => {
  const pad = `artifact=${uids["pad"]}`;
  assert.deepEqual(await shorts(`${pad}&version=1.0.0`), ["pad 1.0.0 GHSA-dddd-eeee-ffff"]);
  assert.deepEqual(await shorts(`${pad}&version=1.0.3`), []);
  assert.deepEqual(await shorts(`${pad}&version=7.0.0`), []);
  assert.deepEqual(await shorts(pad), [
    "pad 1.0.0 GHSA-dddd-eeee-ffff",
    "pad 1.0.1 CVE-2026-1",
    "pad 1.0.2 CVE-2026-1",
  ]);
  const all = await shorts("");
  assert.equal(all.length, 8);
  assert.deepEqual(await shorts(`uidp.children_of=${sub}`), [
    "below 1.0.0 GHSA-dddd-eeee-ffff",
    "below 1.0.1 CVE-2026-1",
  ]);
  const viewer = await platform.token(await platform.identity(other, "viewer"));
  assert.deepEqual(await shorts("", viewer), [
    "evil 1.0.0 MAL-2026-9",
    "flask 1.0.0 CVE-2026-1",
    "log 1.0.0 CVE-2026-2",
  ]);
  assert.deepEqual(await shorts("vulnerabilities=CVE-2026-1", viewer), ["flask 1.0.0 CVE-2026-1"]);
  assert.equal((await ask(pad, viewer)).status, 404);
  assert.equal((await ask(`artifact=${team}/${"0".repeat(16)}`)).status, 404);
  assert.deepEqual(await shorts("", await platform.token(await platform.identity(platform.organization))), []);
});

test("filters: each leaves what it says, and all together what all say", async () => {
  assert.deepEqual(await shorts("malware=true"), ["evil 1.0.0 MAL-2026-9"]);
  assert.equal((await shorts("malware=false")).length, 7);
  assert.deepEqual(await shorts("fixable=false"), [
    "below 1.0.0 GHSA-dddd-eeee-ffff",
    "evil 1.0.0 MAL-2026-9",
    "pad 1.0.0 GHSA-dddd-eeee-ffff",
  ]);
  assert.equal((await shorts("kev=true")).length, 4);
  assert.equal((await shorts("minSeverity=CRITICAL")).length, 4);
  assert.deepEqual(await shorts("ecosystems=ECOSYSTEM_JAVA&ecosystems=ECOSYSTEM_PYTHON&kev=false"), [
    "log 1.0.0 CVE-2026-2",
  ]);
});

test("pages together are the list, whatever their size, and a token belongs to its filters", async () => {
  for (const filter of ["", "vulnerabilities=CVE-2026-1", `artifact=${uids["pad"]}`]) {
    const whole = (await list(filter)).map(short);
    for (const size of [1, 3]) {
      const found: string[] = [];
      let token = "";
      do {
        const { body } = await ask(`${filter}&page_size=${size}&page_token=${token}`);
        const page = (body["libraryFindings"] as Finding[] | undefined) ?? [];
        assert.ok(page.length <= size);
        found.push(...page.map(short));
        token = body.nextPageToken;
      } while (token !== "");
      assert.deepEqual(found, whole, filter);
    }
  }
  const { body } = await ask("page_size=1");
  const wrong = await ask(`page_size=1&kev=true&page_token=${body.nextPageToken}`);
  assert.deepEqual([wrong.status, blamed(wrong)], [400, ["page_token"]]);
});

test("what is wrong with a request is named", async () => {
  for (const [query, field] of [
    ["page_size=-1", "page_size"],
    ["version=1.0.0", "version"],
    ["ecosystems=ECOSYSTEM_UNSPECIFIED", "ecosystems"],
    ["vulnerabilities=", "vulnerabilities"],
  ] as const) {
    const answer = await ask(query);
    assert.deepEqual([answer.status, blamed(answer)], [400, [field]], query);
  }
});

const decide = async (group: string, subject: object, event: object): Promise<string> => {
  const { uid } = await newAdvisory(platform, group, subject);
  await platform.ok("POST", `${ADVISORIES}/${uid}/events`, { reviewState: "APPROVED", ...event });
  return uid;
};

test("what an advisory of the group or one above says does not affect a library is left out, by any id of it", async () => {
  const subject = { artifactName: "@acme/pad", artifactType: "NPM", aliases: ["CVE-2026-1"] };
  const event = { falsePositiveDetermination: { type: "TYPE_VULNERABLE_CODE_NOT_IN_EXECUTION_PATH", note: "Never." } };
  const below = await decide(sub, subject, event);
  assert.deepEqual(await shorts("vulnerabilities=NPM-7&ecosystems=ECOSYSTEM_JAVASCRIPT"), [
    "pad 1.0.1 CVE-2026-1",
    "pad 1.0.2 CVE-2026-1",
  ]);
  const above = await decide(team, subject, event);
  assert.deepEqual(await shorts("vulnerabilities=NPM-7&ecosystems=ECOSYSTEM_JAVASCRIPT"), []);
  for (const uid of [below, above]) await platform.ok("DELETE", `${ADVISORIES}/${uid}`);
  assert.equal((await shorts("vulnerabilities=NPM-7&ecosystems=ECOSYSTEM_JAVASCRIPT")).length, 3);
});

test("a version that an advisory says is fixed is remediated: in the list by that filter, and in its source", async () => {
  const remediated = async (): Promise<string[]> => {
    const query =
      "ecosystems=ECOSYSTEM_JAVA&ecosystems=ECOSYSTEM_PYTHON&ecosystems=ECOSYSTEM_JAVASCRIPT&remediated=true";
    const answer = await platform.ok("GET", `/libraries/v2/artifacts?${query}&page_size=1`);
    const names = (answer["artifacts"] as { name: string }[]).map(({ name }) => name);
    if (answer.nextPageToken === "") return names;
    const next = await platform.ok("GET", `/libraries/v2/artifacts?page_token=${answer.nextPageToken}`);
    return [...names, ...(next["artifacts"] as { name: string }[]).map(({ name }) => name)];
  };
  const sources = async (key: string): Promise<string[]> => {
    const path = `/libraries/v2/artifacts/${encodeURIComponent(uids[key] ?? "")}/versions?order_by=version`;
    const answer = await platform.ok("GET", path);
    return (answer["artifactVersions"] as { sourceType: string }[]).map(({ sourceType }) =>
      sourceType.replace("SOURCE_TYPE_", ""),
    );
  };
  assert.deepEqual(await remediated(), []);
  assert.deepEqual(await sources("pad"), ["INTERNAL", "INTERNAL", "INTERNAL", "INTERNAL"]);
  const pad = { artifactName: "@acme/pad", artifactType: "NPM", aliases: ["CVE-2026-1"] };
  const uid = await decide(team, pad, { fixed: { fixedVersion: "1.0.2" } });
  await decide(
    other,
    { artifactName: "Flask", artifactType: "PYPI" },
    { patched: { patchedVersions: ["1.0.1", "9"] } },
  );
  // Of no version that is there, of another kind of package, and of another group.
  await decide(team, { artifactName: "fine", artifactType: "NPM" }, { fixed: { fixedVersion: "2.0.0" } });
  await decide(team, { artifactName: "fine", artifactType: "APK" }, { fixed: { fixedVersion: "1.0.0" } });
  await decide(team, { artifactName: "org.example:log", artifactType: "MAVEN" }, { fixed: { fixedVersion: "1.0.1" } });
  assert.deepEqual(await remediated(), ["@acme/pad", "flask"]);
  assert.deepEqual(await sources("pad"), ["INTERNAL", "INTERNAL", "INTERNAL_REMEDIATED", "INTERNAL"]);
  assert.deepEqual(await sources("flask"), ["INTERNAL", "INTERNAL_REMEDIATED"]);
  assert.deepEqual(await sources("log"), ["INTERNAL", "INTERNAL"]);
  await platform.ok("DELETE", `${ADVISORIES}/${uid}`);
  assert.deepEqual(await remediated(), ["flask"]);
});

test("a statement of a feed that may decide about the library closes a finding", async () => {
  const { record } = openVex({
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": "https://example.com/vex/1",
    author: "Upstream",
    timestamp: "2026-11-02T08:00:00Z",
    statements: [
      {
        vulnerability: { name: "CVE-2026-2" },
        products: [{ "@id": "pkg:maven/org.example/log@1.0.0" }],
        status: "not_affected",
        justification: "vulnerable_code_not_in_execute_path",
      },
    ],
  });
  assert.ok(record !== undefined);
  await putRecords(platform, "upstream", "openvex", [record], [], ["pkg:maven/org.example/log"]);
  const isLeft = async (): Promise<boolean> => (await shorts("vulnerabilities=CVE-2026-2")).length > 0;
  // What feeds state is read in the background.
  await eventually(async () => !(await isLeft()));
  await putRecords(platform, "upstream", "openvex", [], [], ["pkg:maven/org.example/other"]);
  await eventually(isLeft);
});

test("a list says which ecosystems no feed covers, and which versions cannot be compared", async () => {
  const list = async (query: string): Promise<Page> => platform.ok("GET", `/libraries/v2/findings?${query}`);
  const statesOf = ({ coverage }: Page): string[] =>
    coverage.map(({ ecosystem, state, preset }) => `${ecosystem} ${state} ${preset}`);
  const all = [
    "ECOSYSTEM_JAVASCRIPT KNOWLEDGE_STATE_READ osv-npm",
    "ECOSYSTEM_PYTHON KNOWLEDGE_STATE_READ osv-pypi",
    "ECOSYSTEM_JAVA KNOWLEDGE_STATE_READ osv-maven",
  ];
  assert.deepEqual(statesOf(await list("")).toSorted(), all.toSorted());
  assert.deepEqual(statesOf(await list("ecosystems=PYTHON")), [all[1]]);
  assert.deepEqual(statesOf(await list(`artifact=${uids["log"]}`)), [all[2]]);
  await platform.transact(async (tx) => {
    await tx.deleteFrom("feed_keys").where("kind", "=", "package").where("key", "like", "maven/%").execute();
  });
  const without = await list(`artifact=${uids["log"]}`);
  assert.deepEqual(statesOf(without), [all[2]?.replace("READ", "NO_DATA")]);
  assert.deepEqual([without.libraryFindings, without.notComparedTotal], [[], 0]);

  await platform.transact(async (tx) => {
    const row = await tx
      .selectFrom("artifact_versions")
      .select("uid")
      .where("parent", "=", uids["flask"] ?? "")
      .limit(1)
      .executeTakeFirstOrThrow();
    await tx.updateTable("artifact_versions").set({ version: "of today" }).where("uid", "=", row.uid).execute();
  });
  const found = await list(`artifact=${uids["flask"]}`);
  assert.deepEqual(found.notCompared, [
    { artifact: uids["flask"], ecosystem: "ECOSYSTEM_PYTHON", name: "flask", version: "of today" },
  ]);
  assert.equal(found.notComparedTotal, 1);
});
