import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ADVISORIES } from "../../../server/test/support/advisories.ts";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { cycloneDx } from "../../../server/test/support/catalog/documents.ts";
import { newRepoPlace, type Place } from "../../../server/test/support/catalog/place.ts";
import { deleteReference, pushArtifact, pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { openedImport, osvOf, putRecords } from "../../../server/test/support/feed-records.ts";
import { before as affectedBefore } from "../../../server/test/support/matching.ts";
import { type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// Findings of images that are opened and closed are events: one for an image and a change.

interface Change {
  type: string;
  subject: string;
  parent: string;
  actor: string;
  body: {
    repository: string;
    repo_id: string;
    digest: string;
    tags: string[];
    findings: number;
    severities: Record<string, number>;
    worst: string;
    vulnerabilities: string[];
    open: number;
    when: string;
  };
}

let platform: Platform;
let token = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
});
after(() => platform.close());

const newPlace = (): Promise<Place> => newRepoPlace(platform, token);
const CRITICAL = { severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }] };
const MEDIUM = { severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:L/AC:L/PR:L/UI:N/S:U/C:L/I:L/A:L" }] };

let count = 0;
/** A name that no package had before. */
const fresh = (): string => `package-${(count += 1)}`;
const push = ({ ...place }: Place, packages: readonly string[], tag = "v1"): Promise<string> =>
  pushLayers(place, tag, [
    tarOf([...packages.map((name) => npmFile("app", name, "1.0.0")), { path: packages.join() }]),
  ]);
const record = (name: string, id: string, more: object = {}): ReturnType<typeof osvOf> =>
  osvOf(`OSV-${id}`, { aliases: [id], ...affectedBefore(name, "2.0.0"), ...more });

/** The events about findings of a repo, in their order. */
async function events({ repo }: Pick<Place, "repo">): Promise<Change[]> {
  const found = await platform.transact(async (tx) => [
    ...(await tx.selectFrom("events").selectAll().where("subject", "=", repo).orderBy("seq").execute()),
    ...(await tx.selectFrom("event_outbox").selectAll().where("subject", "=", repo).orderBy("n").execute()),
  ]);
  return found
    .filter(({ type }) => type.startsWith("vulnerabilities."))
    .map((row) => ({ ...row, body: JSON.parse(row.body) as Change["body"] }));
}

/** Waits until everything is compared and emitted. */
async function settled(): Promise<void> {
  const db = platform.reader;
  await eventually(async () => {
    const { value } = (await db
      .selectFrom("matching")
      .select("value")
      .where("name", "=", "changes")
      .executeTakeFirst()) ?? {
      value: 0,
    };
    const left = [
      await db.selectFrom("image_catalogs").select("digest").where("state", "=", 1).execute(),
      await db.selectFrom("attachment_checks").select("id").execute(),
      await db.selectFrom("attached_readings").select("manifest").where("state", "=", 1).execute(),
      await db.selectFrom("packages").select("id").where("matched", "is", null).execute(),
      await db.selectFrom("feed_records").select("id").where("change", ">", value).execute(),
      await db.selectFrom("finding_causes").select("id").execute(),
      await db.selectFrom("finding_checks").select("digest").execute(),
    ];
    return left.every((rows) => rows.length === 0);
  });
}

/** What was emitted of the repo since the last call, as `opened 2 CVE-1,CVE-2 of 3`. */
const seen = new Map<string, number>();
async function emitted(place: Pick<Place, "repo">): Promise<string[]> {
  await settled();
  const all = await events(place);
  const news = all.slice(seen.get(place.repo) ?? 0);
  seen.set(place.repo, all.length);
  return news.map(({ type, body }) => {
    const [, , change] = type.split(".");
    return `${change} ${body.findings} ${body.vulnerabilities.join()} of ${body.open}`;
  });
}

test("a change of a feed emits one event for an image, with how many findings, how bad, and the worst", async () => {
  const place = await newPlace();
  const [one, two] = [fresh(), fresh()];
  const digest = await push(place, [one, two]);
  assert.deepEqual(await emitted(place), []);
  await putRecords(platform, "many", "osv", [
    record(one, "CVE-2026-11", MEDIUM),
    record(one, "CVE-2026-12", CRITICAL),
    record(two, "CVE-2026-13"),
    // The same vulnerability by another record.
    osvOf("GHSA-2222-3333-4444", { aliases: ["CVE-2026-12"], ...affectedBefore(one, "1.5.0") }),
    record("nothing that is there", "CVE-2026-14", CRITICAL),
  ]);
  await settled();
  const [event, ...more] = await events(place);
  assert.deepEqual(more, []);
  assert.ok(event !== undefined);
  const { when, ...body } = event.body;
  assert.match(when, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/);
  assert.deepEqual(
    [event.type, event.parent, JSON.parse(event.actor), body],
    [
      "vulnerabilities.finding.opened.v1",
      platform.organization,
      { subject: "", act: { actor: "system" } },
      {
        repository: place.name,
        repo_id: place.repo,
        digest,
        tags: ["v1"],
        findings: 3,
        severities: { critical: 1, high: 0, medium: 1, low: 0, negligible: 0, none: 0, unknown: 1 },
        worst: "FINDING_SEVERITY_CRITICAL",
        vulnerabilities: ["CVE-2026-12", "CVE-2026-11", "CVE-2026-13"],
        open: 3,
        state: "KNOWLEDGE_STATE_READ",
        state_reason: "",
      },
    ],
  );
  assert.equal((await emitted(place)).length, 1);
  // The same again; other words; one of two records of a vulnerability: nothing of it is opened or closed.
  await putRecords(platform, "many", "osv", [record(one, "CVE-2026-11", { ...MEDIUM, summary: "more words" })]);
  await putRecords(platform, "many", "osv", [], ["GHSA-2222-3333-4444"]);
  assert.deepEqual(await emitted(place), []);
  // In one change some are closed and some are opened.
  await putRecords(
    platform,
    "many",
    "osv",
    [record(one, "CVE-2026-11", affectedBefore(one, "1.0.0")), record(two, "CVE-2026-15", CRITICAL)],
    ["OSV-CVE-2026-12"],
  );
  assert.deepEqual(await emitted(place), ["opened 1 CVE-2026-15 of 2", "closed 2 CVE-2026-12,CVE-2026-11 of 2"]);
});

test("an import of many batches is one change; an image that is pushed later has what was known before", async () => {
  const [place, late] = [await newPlace(), await newPlace()];
  const name = fresh();
  const digest = await push(place, [name]);
  await settled();
  const { add, end } = await openedImport(platform, "batches");
  await add([record(name, "CVE-2026-21")]);
  // What is there is compared before the import ends.
  const compared = async (): Promise<number> =>
    (await platform.reader.selectFrom("package_findings").select("record").where("feed", "=", "batches").execute())
      .length;
  await eventually(async () => (await compared()) >= 1);
  await add([record(name, "CVE-2026-22")]);
  await eventually(async () => (await compared()) >= 2);
  assert.deepEqual(await events(place), []);
  await end();
  assert.deepEqual(await emitted(place), ["opened 2 CVE-2026-21,CVE-2026-22 of 2"]);
  // The digest is read already: in the other repo its findings are new. Pushed again it has no news.
  assert.equal(await push(late, [name]), digest);
  assert.deepEqual(await emitted(late), ["opened 2 CVE-2026-21,CVE-2026-22 of 2"]);
  await push(late, [name], "again");
  assert.deepEqual(await emitted(late), []);
  assert.deepEqual(await emitted(place), []);
});

test("an advisory emits events in the repos at and below its group, when it decides and when it ends", async () => {
  const team = await platform.group(platform.organization, { name: "advised" });
  const other = await newPlace();
  const name = fresh();
  const { uid: repo } = await platform.repo(team.uid, { name: "app" });
  const place = { ...other, repo, name: `${platform.bootstrap.organization.name}/advised/app` };
  for (const each of [place, other]) await push(each, [name]);
  await putRecords(platform, "advised", "osv", [record(name, "CVE-2026-31", MEDIUM)]);
  assert.deepEqual(await emitted(place), ["opened 1 CVE-2026-31 of 1"]);
  assert.deepEqual(await emitted(other), ["opened 1 CVE-2026-31 of 1"]);
  const falsePositive = { type: "TYPE_COMPONENT_VULNERABILITY_MISMATCH" };
  const made: Json = await platform.ok("POST", `${ADVISORIES}/${team.uid}`, {
    artifactName: name,
    artifactType: "NPM",
    aliases: ["CVE-2026-31"],
    events: [{ reviewState: "APPROVED", falsePositiveDetermination: falsePositive }],
  });
  assert.deepEqual(await emitted(place), ["closed 1 CVE-2026-31 of 0"]);
  await platform.ok("POST", `${ADVISORIES}/${made.uid}/events`, { reviewState: "APPROVED", fixNotPlanned: {} });
  assert.deepEqual(await emitted(place), ["opened 1 CVE-2026-31 of 1"]);
  await platform.ok("POST", `${ADVISORIES}/${made.uid}/events`, {
    reviewState: "APPROVED",
    fixed: { fixedVersion: "1.0.0" },
  });
  assert.deepEqual(await emitted(place), ["closed 1 CVE-2026-31 of 0"]);
  await platform.ok("DELETE", `${ADVISORIES}/${made.uid}`);
  assert.deepEqual(await emitted(place), ["opened 1 CVE-2026-31 of 1"]);
  assert.deepEqual(await emitted(other), []);
});

test("attached statements and SBOMs emit events of the image in that repo", async () => {
  const [place, other] = [await newPlace(), await newPlace()];
  const [name, stated] = [fresh(), fresh()];
  await putRecords(platform, "attached", "osv", [
    record(name, "CVE-2026-41", CRITICAL),
    record(stated, "CVE-2026-42", MEDIUM),
  ]);
  const digest = await push(place, [name]);
  await push(other, [name]);
  for (const each of [place, other]) assert.deepEqual(await emitted(each), ["opened 1 CVE-2026-41 of 1"]);
  const attach = (type: string, content: string): Promise<string> =>
    pushArtifact(place, { artifactType: type, subject: digest, layers: [{ mediaType: type, content }] });
  const vex = await attach(
    "application/openvex+json",
    JSON.stringify({
      "@context": "https://openvex.dev/ns/v0.2.0",
      "@id": "https://acme.example/vex/1",
      author: "Acme",
      timestamp: "2026-11-01T08:00:00Z",
      version: 1,
      statements: [
        {
          vulnerability: { name: "CVE-2026-41" },
          products: [{ "@id": `pkg:npm/${name}@1.0.0` }],
          status: "not_affected",
          justification: "component_not_present",
        },
      ],
    }),
  );
  assert.deepEqual(await emitted(place), ["closed 1 CVE-2026-41 of 0"]);
  await deleteReference(place, vex);
  assert.deepEqual(await emitted(place), ["opened 1 CVE-2026-41 of 1"]);
  // What is the same in both is no news, whoever says that it is there.
  const sbom = await attach(
    "application/vnd.cyclonedx+json",
    cycloneDx([], {
      components: [name, stated].map((each) => ({
        type: "library",
        name: each,
        version: "1.0.0",
        purl: `pkg:npm/${each}@1.0.0`,
        licenses: [{ license: { id: "MIT" } }],
      })),
    }),
  );
  assert.deepEqual(await emitted(place), ["opened 1 CVE-2026-42 of 2"]);
  await deleteReference(place, sbom);
  assert.deepEqual(await emitted(place), ["closed 1 CVE-2026-42 of 1"]);
  assert.deepEqual(await emitted(other), []);
});
