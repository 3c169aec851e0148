import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { AdvisoryExportsService, VexFormat } from "@moorage/api";
import osvSchema from "../../src/security/feeds/osv-schema.json" with { type: "json" };
import { ADVISORIES, ADVISORY_EVENTS, newAdvisory } from "../../../server/test/support/advisories.ts";
import { csafProblems } from "../../../server/test/support/csaf.ts";
import { allOf, fileOf } from "../../../server/test/support/feed-files.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { both } from "../../../server/test/support/rest-and-grpc.ts";
import { openVexProblem } from "../../../server/test/support/schemas.ts";

let platform: Platform;
let group: string;
const made: Record<string, { uid: string; advisoryId: string }> = {};

const EVENTS: [name: string, event: object][] = [
  ["detection", { detection: { manual: {} } }],
  ["true", { truePositiveDetermination: { note: "It is there." } }],
  ["fixed", { fixed: { fixedVersion: "3.1.5-r0", note: "Rebuilt." } }],
  ["patched", { patched: { patchedVersions: ["3.1.4-r1", "3.1.5-r0"] } }],
  ["analysis", { analysisNotPlanned: {} }],
  ["fix", { fixNotPlanned: { note: "End of life." } }],
  ["upstream", { pendingUpstreamFix: {} }],
  ...(
    [
      "VULNERABILITY_RECORD_ANALYSIS_CONTESTED",
      "COMPONENT_VULNERABILITY_MISMATCH",
      "VULNERABLE_CODE_VERSION_NOT_USED",
      "VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE",
      "VULNERABLE_CODE_NOT_IN_EXECUTION_PATH",
      "VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY",
      "INLINE_MITIGATIONS_EXIST",
    ] as const
  ).map((type): [string, object] => [
    type,
    { falsePositiveDetermination: { type: `TYPE_${type}`, note: "Looked at." } },
  ]),
];

before(async () => {
  platform = await startPlatform();
  group = (await platform.group(platform.organization, { name: "team-a" })).uid;
  const below = (await platform.group(group, { name: "web" })).uid;
  for (const [at, [name, event]] of EVENTS.entries())
    made[name] = await newAdvisory(platform, at % 2 === 0 ? group : below, {
      artifactName: "acme/team-a/web",
      artifactType: "OCI_IMAGE",
      artifactArchitecture: "amd64",
      componentName: `lib${at}`,
      componentType: "apk",
      aliases: ["GHSA-2345-6789-cfgh", "CVE-2026-1234"],
      events: [
        { detection: { manual: {} }, reviewState: "APPROVED" },
        { ...event, reviewState: "APPROVED" },
        // What is not approved decides nothing.
        { fixed: { fixedVersion: "99" } },
      ],
    });
  made["npm"] = await newAdvisory(platform, group, {
    artifactName: "@acme/app",
    artifactType: "NPM",
    aliases: ["ACME-1"],
    severities: [{ type: "TYPE_CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }],
    events: [{ fixed: { fixedVersion: "2.0.0" }, reviewState: "APPROVED" }],
  });
  made["odd"] = await newAdvisory(platform, group, {
    artifactName: "Ünïcode / name?#@%",
    artifactType: "OTHER",
    componentName: "a:b@c/d",
    componentType: "go-module",
    aliases: ["cve-2026-99999"],
    events: [{ patched: { patchedVersions: ["1 2", "?"] }, reviewState: "APPROVED" }],
  });
  await newAdvisory(platform, group, {
    artifactName: "undecided",
    aliases: ["CVE-2026-5"],
    events: [{ detection: { manual: {} } }],
  });
});
after(() => platform.close());

const { getVexDocument, getOsvRecords } = AdvisoryExportsService.method;

async function vex(format: VexFormat, of = group): Promise<Record<string, unknown>> {
  const answer = await both(platform, getVexDocument, { group: of, format }, await platform.token());
  assert.equal(answer.status, 200, answer.text);
  return answer.body["document"] as Record<string, unknown>;
}

interface OpenVexStatement {
  "@id": string;
  vulnerability: { name: string; aliases: string[] };
  products: { "@id": string; subcomponents?: { "@id": string }[] }[];
  status: string;
  justification?: string;
  action_statement?: string;
  status_notes?: string;
}

test("the OpenVEX document of a group is valid and has each decision with its justification", async (t) => {
  const document = await vex(VexFormat.OPENVEX);
  assert.equal(openVexProblem(document), undefined);
  assert.equal(document["author"], "acme/team-a");
  const statements = document["statements"] as OpenVexStatement[];
  assert.equal(statements.length, EVENTS.length + 2);
  const of = (name: string): OpenVexStatement | undefined =>
    statements.find((each) => each["@id"].endsWith(made[name]?.uid ?? "?"));
  const said = Object.fromEntries(
    EVENTS.map(([name]) => [
      name,
      [of(name)?.status, of(name)?.justification ?? of(name)?.action_statement ?? ""].join(" "),
    ]),
  );
  assert.deepEqual(said, {
    detection: "under_investigation ",
    true: "affected No fix is known yet. It is there.",
    fixed: "fixed ",
    patched: "fixed ",
    analysis: "affected No analysis is planned.",
    fix: "affected No fix is planned. End of life.",
    upstream: "affected A fix has to come from those who make the component.",
    VULNERABILITY_RECORD_ANALYSIS_CONTESTED: "not_affected vulnerable_code_not_present",
    COMPONENT_VULNERABILITY_MISMATCH: "not_affected component_not_present",
    VULNERABLE_CODE_VERSION_NOT_USED: "not_affected vulnerable_code_not_present",
    VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE: "not_affected vulnerable_code_not_present",
    VULNERABLE_CODE_NOT_IN_EXECUTION_PATH: "not_affected vulnerable_code_not_in_execute_path",
    VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY: "not_affected vulnerable_code_cannot_be_controlled_by_adversary",
    INLINE_MITIGATIONS_EXIST: "not_affected inline_mitigations_already_exist",
  });
  const host = encodeURIComponent(new URL(platform.url).host);
  assert.deepEqual(of("patched")?.products, [
    {
      "@id": `pkg:oci/web?arch=amd64&repository_url=${host}%2Facme%2Fteam-a%2Fweb`,
      identifiers: { purl: `pkg:oci/web?arch=amd64&repository_url=${host}%2Facme%2Fteam-a%2Fweb` },
      subcomponents: ["3.1.4-r1", "3.1.5-r0"].map((version) => ({
        "@id": `pkg:apk/lib3@${version}`,
        identifiers: { purl: `pkg:apk/lib3@${version}` },
      })),
    },
  ]);
  assert.equal(of("npm")?.products[0]?.["@id"], "pkg:npm/%40acme/app@2.0.0");
  assert.deepEqual(of("true")?.vulnerability, {
    name: "CVE-2026-1234",
    aliases: ["GHSA-2345-6789-cfgh", made["true"]?.advisoryId],
  });
  // Our own reader of such documents takes it.
  const { records, problems } = await allOf("openvex", fileOf(t, "vex.json", JSON.stringify(document)));
  assert.deepEqual(
    [problems, records[0]?.about],
    [[], ["CVE-2026-1234", "ACME-1", "CVE-2026-99999"].sort(orderOf(records[0]?.about))],
  );
});

/** Sorts as they are in another list. */
function orderOf(list: readonly string[] = []): (a: string, b: string) => number {
  return (a, b) => list.indexOf(a) - list.indexOf(b);
}

test("its CSAF document passes the schema and the mandatory tests, and changes its version with each decision", async (t) => {
  const document = (await vex(VexFormat.CSAF)) as {
    document: { tracking: { version: string } };
    vulnerabilities: {
      cve?: string;
      product_status: Record<string, string[]>;
      flags?: { label: string; product_ids: string[] }[];
    }[];
  };
  assert.deepEqual(await csafProblems(document), []);
  assert.notDeepEqual(await csafProblems({ ...document, vulnerabilities: [{}, {}] }), [], "the tests find faults");
  const known = document.vulnerabilities.find(({ cve }) => cve === "CVE-2026-1234");
  const counts = Object.entries(known?.product_status ?? {}).map(([status, products]) => [status, products.length]);
  assert.deepEqual(Object.fromEntries(counts), {
    under_investigation: 1,
    known_affected: 4,
    fixed: 3,
    known_not_affected: 7,
  });
  assert.deepEqual(
    known?.flags?.find(({ product_ids: ids }) => ids[0] === made["INLINE_MITIGATIONS_EXIST"]?.advisoryId)?.label,
    "inline_mitigations_already_exist",
  );
  const { records, problems } = await allOf("csaf-vex", fileOf(t, "csaf.json", JSON.stringify(document)));
  assert.deepEqual([problems, records.length], [[], 1]);
  assert.deepEqual(await vex(VexFormat.CSAF), document, "it is the same until something changes");
});

test("its records of OSV are valid, and what does no harm is withdrawn", async (t) => {
  const answer = await both(platform, getOsvRecords, { group }, await platform.token());
  const found = answer.body["osvRecords"] as Record<string, unknown>[];
  assert.equal(found.length, EVENTS.length + 2);
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);
  const validate = ajv.compile(osvSchema);
  for (const record of found) assert.ok(validate(record), JSON.stringify([record, validate.errors]));
  const of = (name: string): Record<string, unknown> | undefined =>
    found.find(({ id }) => id === `x_${made[name]?.advisoryId}`);
  assert.deepEqual(of("npm")?.["affected"], [
    {
      package: { ecosystem: "npm", name: "@acme/app" },
      ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: "2.0.0" }] }],
      severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }],
    },
  ]);
  assert.equal(of("true")?.["withdrawn"], undefined);
  assert.equal(typeof of("INLINE_MITIGATIONS_EXIST")?.["withdrawn"], "string");
  const { records, problems } = await allOf("osv", fileOf(t, "npm.json", JSON.stringify(of("npm"))));
  assert.deepEqual([problems, records[0]?.severity, records[0]?.aliases], [[], "CRITICAL", ["ACME-1"]]);
});

test("a decision that changes is in the next document; without one there is none", async () => {
  const place = (await platform.group(platform.organization)).uid;
  const none = await platform.call("GET", `/vulnerabilities/v2/groups/${place}/vex`, { token: await platform.token() });
  assert.deepEqual([none.status, none.body.code], [400, 9]);
  assert.match(none.text, /has no advisory with an approved event/);
  const { uid } = await newAdvisory(platform, place, {
    artifactType: "NPM",
    events: [{ detection: { manual: {} }, reviewState: "APPROVED" }],
  });
  const status = async (): Promise<unknown> =>
    ((await vex(VexFormat.OPENVEX, place))["statements"] as OpenVexStatement[])[0]?.status;
  assert.equal(await status(), "under_investigation");
  const before = (await vex(VexFormat.OPENVEX, place))["version"] as number;
  platform.clock.offsetMs += 2_000;
  const event = await platform.ok("POST", `${ADVISORIES}/${uid}/events`, { fixed: { fixedVersion: "1" } });
  assert.equal(await status(), "under_investigation");
  await platform.ok("PATCH", `${ADVISORY_EVENTS}/${event.uid}`, { reviewState: "APPROVED" });
  assert.equal(await status(), "fixed");
  assert.ok(((await vex(VexFormat.OPENVEX, place))["version"] as number) > before);
});

test("who may not list the advisories of the group gets no document", async () => {
  const path = `/vulnerabilities/v2/groups/${group}`;
  const stranger = await platform.token(await platform.identity(platform.organization));
  const viewer = await platform.token(await platform.identity(group, "viewer"));
  for (const kind of ["vex", "osv"]) {
    assert.equal((await platform.call("GET", `${path}/${kind}`)).status, 401);
    assert.equal((await platform.call("GET", `${path}/${kind}`, { token: stranger })).status, 404);
    assert.equal((await platform.call("GET", `${path}/${kind}`, { token: viewer })).status, 200);
  }
});
