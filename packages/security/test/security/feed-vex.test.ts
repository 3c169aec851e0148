import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import type { Read } from "../../src/security/records/record.ts";
import { csaf, cycloneDx, openVex } from "../../src/security/vex/records.ts";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { newRepoPlace, type Place } from "../../../server/test/support/catalog/place.ts";
import { pushArtifact, pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { osvOf, putRecords } from "../../../server/test/support/feed-records.ts";
import { openGatedRepo } from "../../../server/test/support/gated-repo.ts";
import { before as affectedBefore } from "../../../server/test/support/matching.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// What feeds of VEX documents say closes the findings that they are about, as far as they may decide: `products`.

interface Finding {
  vulnerability: string;
  openTime: string;
  closeTime?: string;
  closeReason: string;
  statement?: { feed: string; document: string; justification: string; author: string; source: string };
}

let platform: Platform;
let token = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
});
after(() => platform.close());

const newPlace = (): Promise<Place> => newRepoPlace(platform, token);

let count = 0;
const next = (): number => (count += 1);
const push = (place: Place, tag: string, ...packages: string[]): Promise<string> =>
  pushLayers(place, tag, [tarOf([...packages.map((name) => npmFile("app", name, "1.0.0")), { path: `m-${next()}` }])]);

/** A package of a new name with a vulnerability in its versions before 2. */
async function vulnerable(): Promise<{ name: string; purl: string; id: string }> {
  const n = next();
  const name = `package-${n}`;
  const id = `CVE-2026-${1_000 + n}`;
  await putRecords(platform, "osv", "osv", [osvOf(`OSV-${n}`, { aliases: [id], ...affectedBefore(name, "2.0.0") })]);
  return { name, purl: `pkg:npm/${name}`, id };
}

async function findings({ repo }: Place, state: "OPEN" | "CLOSED", more = ""): Promise<Finding[]> {
  const answer = await platform.ok("GET", `/vulnerabilities/v2/findings?repo=${repo}&state=${state}${more}`);
  return (answer["findings"] ?? []) as Finding[];
}

/** Waits until so many findings of the repo are open, and so many closed. Answers those that are closed. */
async function until(place: Place, open: number, closed: number): Promise<Finding[]> {
  const both = async (): Promise<[Finding[], Finding[]]> => [
    await findings(place, "OPEN"),
    await findings(place, "CLOSED"),
  ];
  return await eventually(
    async () => {
      const [opened, ended] = await both();
      return opened.length === open && ended.length === closed && ended;
    },
    { instead: both },
  );
}

/** The events about findings of the repo, once there are so many: `opened 1 CVE-…`. */
async function events({ repo }: Place, wanted: number): Promise<string[]> {
  const all = async (): Promise<string[]> => {
    const rows = await platform.transact(async (tx) => [
      ...(await tx.selectFrom("events").selectAll().where("subject", "=", repo).orderBy("seq").execute()),
      ...(await tx.selectFrom("event_outbox").selectAll().where("subject", "=", repo).orderBy("n").execute()),
    ]);
    return rows
      .filter(({ type }) => type.startsWith("vulnerabilities."))
      .map(({ type, body }) => {
        const { findings: n, vulnerabilities } = JSON.parse(body) as { findings: number; vulnerabilities: string[] };
        return `${type.split(".")[2]} ${n} ${vulnerabilities.join()}`;
      });
  };
  return await eventually(
    async () => {
      const found = await all();
      return found.length >= wanted && found;
    },
    { instead: all },
  );
}

/** Whether all changes of feeds were compared with packages. */
async function areCompared(): Promise<boolean> {
  const { value = 0 } =
    (await platform.reader.selectFrom("matching").select("value").where("name", "=", "changes").executeTakeFirst()) ??
    {};
  const change = await platform.reader
    .selectFrom("feed_records")
    .select("id")
    .where("change", ">", value)
    .executeTakeFirst();
  return change === undefined;
}

/** A time that is later than all before, and earlier than all to come. */
async function between(): Promise<string> {
  await wait(3);
  const time = new Date().toISOString();
  await wait(3);
  return time;
}

const recordIn = ({ record, problem }: Read) => {
  if (record === undefined) throw new Error(problem.message);
  return record;
};

/** An OpenVEX document of a statement that the product is not affected, unless `more` says otherwise. */
const vex = (id: string, product: string, name: string, more: object = {}, document: object = {}) =>
  recordIn(
    openVex({
      "@context": "https://openvex.dev/ns/v0.2.0",
      "@id": id,
      author: "Upstream",
      timestamp: "2026-11-02T08:00:00Z",
      statements: [
        {
          vulnerability: { name },
          products: [{ "@id": product }],
          status: "not_affected",
          justification: "vulnerable_code_not_in_execute_path",
          ...more,
        },
      ],
      ...document,
    }),
  );

const csafVex = (id: string, purl: string, cve: string) =>
  recordIn(
    csaf({
      document: {
        csaf_version: "2.0",
        category: "csaf_vex",
        publisher: { name: "Upstream" },
        tracking: { id, current_release_date: "2026-11-02T08:00:00Z" },
      },
      product_tree: {
        full_product_names: [{ product_id: "P", name: "It", product_identification_helper: { purl } }],
      },
      vulnerabilities: [
        {
          cve,
          product_status: { known_not_affected: ["P"] },
          flags: [{ label: "vulnerable_code_not_in_execute_path", product_ids: ["P"] }],
        },
      ],
    }),
  );

const cycloneDxVex = (id: string, ref: string, name: string, component?: object) =>
  recordIn(
    cycloneDx(
      {
        bomFormat: "CycloneDX",
        specVersion: "1.6",
        serialNumber: id,
        metadata: {
          timestamp: "2026-11-02T08:00:00Z",
          authors: [{ name: "Upstream" }],
          ...(component && { component }),
        },
        vulnerabilities: [
          {
            id: name,
            analysis: { state: "not_affected", justification: "code_not_reachable" },
            affects: [{ ref }],
          },
        ],
      },
      "document",
    ),
  );

for (const [format, make] of [
  ["openvex", vex],
  ["csaf-vex", csafVex],
  ["cyclonedx-vex", cycloneDxVex],
] as const)
  test(`a statement of a feed of the format ${format} closes the finding as long as the feed has it`, async () => {
    const place = await newPlace();
    const { name, purl, id } = await vulnerable();
    await push(place, "v1", name);
    await until(place, 1, 0);
    await events(place, 1);
    const beforeIt = await between();
    const document = `urn:uuid:${format}`;
    const feed = `upstream-${format}`;
    await putRecords(platform, feed, format, [make(document, `${purl}@1.0.0`, id)], [], ["pkg:npm"]);
    const [closed] = await until(place, 0, 1);
    assert.deepEqual(
      [closed?.vulnerability, closed?.closeReason, closed?.statement?.feed, closed?.statement?.document],
      [id, "VEX_NOT_AFFECTED", feed, document],
    );
    assert.deepEqual(
      [closed?.statement?.justification, closed?.statement?.author, closed?.statement?.source],
      ["vulnerable_code_not_in_execute_path", "Upstream", ""],
    );
    assert.ok((closed?.closeTime ?? "") > beforeIt && (closed?.openTime ?? "") < beforeIt, JSON.stringify(closed));
    assert.deepEqual(await events(place, 2), [`opened 1 ${id}`, `closed 1 ${id}`]);

    // An image that is pushed later has the finding closed, and nothing is opened.
    const later = await newPlace();
    await push(later, "v1", name);
    await until(later, 0, 1);

    const during = await between();
    await putRecords(platform, feed, format, [], [document], ["pkg:npm"]);
    await until(place, 1, 0);
    assert.deepEqual(await events(place, 3), [`opened 1 ${id}`, `closed 1 ${id}`, `opened 1 ${id}`]);
    assert.deepEqual(await events(later, 1), [`opened 1 ${id}`], "it was never open before");
    const states = async (time: string): Promise<string[]> =>
      (await findings(place, "OPEN", `&asOf=${time}`)).map(({ vulnerability }) => vulnerability);
    assert.deepEqual([await states(beforeIt), await states(during), await states(await between())], [[id], [], [id]]);
    const [then] = await findings(place, "CLOSED", `&asOf=${during}`);
    assert.equal(then?.statement?.document, document);
  });

test("fixed closes, affected and under investigation do not, and of several the latest counts", async () => {
  const place = await newPlace();
  const { name, purl, id } = await vulnerable();
  await push(place, "v1", name);
  await until(place, 1, 0);
  const say = async (document: string, status: string, timestamp: string): Promise<void> =>
    await putRecords(
      platform,
      "vendor",
      "openvex",
      [vex(document, purl, id, { status, action_statement: "Wait." }, { timestamp })],
      [],
      ["pkg:npm"],
    );
  await say("one", "fixed", "2026-11-01T00:00:00Z");
  const [closed] = await until(place, 0, 1);
  assert.deepEqual([closed?.closeReason, closed?.statement?.document], ["VEX_FIXED", "one"]);
  await say("two", "under_investigation", "2026-11-02T00:00:00Z");
  await until(place, 1, 0);
  await say("one", "not_affected", "2026-11-03T00:00:00Z");
  const [again] = await until(place, 0, 1);
  assert.deepEqual([again?.closeReason, again?.statement?.document], ["VEX_NOT_AFFECTED", "one"]);
  await say("two", "affected", "2026-11-04T00:00:00Z");
  await until(place, 1, 0);
});

test("a document that says the same in another edition closes the finding as of the first one", async () => {
  const place = await newPlace();
  const { name, purl, id } = await vulnerable();
  await push(place, "v1", name);
  await until(place, 1, 0);
  await events(place, 1);
  const put = (timestamp: string): Promise<void> =>
    putRecords(platform, "editions", "openvex", [vex("it", purl, id, {}, { timestamp })], [], ["pkg:npm"]);
  await put("2026-11-01T00:00:00Z");
  const [first] = await until(place, 0, 1);
  await put("2026-11-05T00:00:00Z");
  await eventually(
    async () => {
      const [found] = await findings(place, "CLOSED");
      const { time } = (found?.statement ?? {}) as { time?: string };
      assert.equal(found?.closeTime, first?.closeTime);
      return time?.startsWith("2026-11-05");
    },
    { instead: () => findings(place, "CLOSED") },
  );
  assert.deepEqual(await events(place, 2), [`opened 1 ${id}`, `closed 1 ${id}`]);
});

test("a feed decides about its products alone, and about others as soon as the operator says so", async () => {
  const place = await newPlace();
  const [one, other] = [await vulnerable(), await vulnerable()];
  await push(place, "v1", one.name, other.name);
  await until(place, 2, 0);
  const records = [vex("one", one.purl, one.id), vex("other", other.purl, other.id)];
  const trust = (products: string[], some = records.slice(0, 0)): Promise<void> =>
    putRecords(platform, "partly", "openvex", some, [], products);
  await trust([one.purl], records);
  const closed = async (): Promise<string[]> => (await until(place, 1, 1)).map(({ vulnerability }) => vulnerability);
  assert.deepEqual(await closed(), [one.id]);
  await trust([one.purl, other.purl]);
  await until(place, 0, 2);
  await trust([other.purl]);
  assert.deepEqual(await closed(), [other.id]);
  await trust([]);
  await until(place, 2, 0);
  // A name that only begins in the same way is another product.
  await trust([one.purl.slice(0, -1), other.purl]);
  assert.deepEqual(await closed(), [other.id]);
});

test("a gate lets the image pass, and a diff says that the vulnerability does not hold any more", async () => {
  const repo = await openGatedRepo(platform, { on: ["PULL"], mode: "ENFORCE" });
  const { name, purl, id } = await vulnerable();
  await repo.push("v1", [name, "1.0.0"]);
  await repo.pulledAs("v1", 403);
  const then = await between();
  await putRecords(platform, "gate", "openvex", [vex("it", purl, id)], [], []);
  await eventually(areCompared);
  // The gate looks again at what it knows of the image after a second.
  platform.clock.offsetMs += 2_000;
  assert.equal((await repo.pull("v1")).status, 403, "the feed is not trusted");
  // What it says counts from when the operator trusts the feed, also without another edition of the document.
  await putRecords(platform, "gate", "openvex", [], [], ["pkg:npm"]);
  await repo.pulledAs("v1", 200);
  const query = new URLSearchParams({ from: `v1@${then}`, to: "v1" }).toString();
  const { vulnerabilities } = await platform.ok<{
    vulnerabilities: { vulnerability: string; from: { state: string }; to: { state: string; closeReason: string } }[];
  }>("GET", `/registry/v2/repos/${repo.repo}/diff?${query}`);
  assert.deepEqual(
    vulnerabilities.map(({ vulnerability, from, to }) => [vulnerability, from.state, to.state, to.closeReason]),
    [[id, "FINDING_STATE_OPEN", "FINDING_STATE_CLOSED", "VEX_NOT_AFFECTED"]],
  );
  await putRecords(platform, "gate", "openvex", [], ["it"], ["pkg:npm"]);
  await repo.pulledAs("v1", 403);
});

test("what is attached to the image counts more than what a feed says", async () => {
  const place = await newPlace();
  const { name, purl, id } = await vulnerable();
  const digest = await push(place, "v1", name);
  await until(place, 1, 0);
  await putRecords(platform, "doubted", "openvex", [vex("it", purl, id)], [], ["pkg:npm"]);
  await until(place, 0, 1);
  const content = JSON.stringify({
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": "https://acme.example/vex/doubt",
    author: "Acme",
    timestamp: "2026-10-01T08:00:00Z",
    version: 1,
    statements: [
      { vulnerability: { name: id }, products: [{ "@id": purl }], status: "affected", action_statement: "Wait." },
    ],
  });
  const type = "application/openvex+json";
  await pushArtifact(place, { artifactType: type, subject: digest, layers: [{ mediaType: type, content }] });
  await until(place, 1, 0);
});

test("a statement about an image closes findings in that image, and in no other", async () => {
  const [place, other] = [await newPlace(), await newPlace()];
  const { name, purl, id } = await vulnerable();
  const [digest] = [await push(place, "v1", name), await push(place, "v2", name), await push(other, "v1", name)];
  await until(place, 2, 0);
  await until(other, 1, 0);
  const image = `pkg:oci/${place.name.split("/").at(-1) ?? ""}`;
  const say = (...records: ReturnType<typeof vex>[]): Promise<void> =>
    putRecords(platform, "images", "openvex", records, [], ["pkg:oci"]);
  // By its digest.
  await say(vex("it", `${image}@${encodeURIComponent(digest)}`, id));
  await until(place, 1, 1);
  // All digests of the name, the package in them.
  await say(vex("it", image, id, { products: [{ "@id": image, subcomponents: [{ "@id": purl }] }] }));
  await until(place, 0, 2);
  // An image of that name at another place, and another package in it.
  const elsewhere = `${image}?repository_url=registry.example/else/where`;
  await say(vex("it", elsewhere, id));
  await until(place, 2, 0);
  await say(vex("it", image, id, { products: [{ "@id": image, subcomponents: [{ "@id": "pkg:npm/nothing" }] }] }));
  await say(vex("last", `${image}@${encodeURIComponent(digest)}`, id));
  await until(place, 1, 1);
  assert.deepEqual(await events(other, 1), [`opened 1 ${id}`]);
  // Of a document of CycloneDX about an image, the package in that image.
  const whole = { "bom-ref": "image", type: "container", name: "it", purl: image };
  await putRecords(platform, "boms", "cyclonedx-vex", [cycloneDxVex("urn:uuid:1", purl, id, whole)], [], ["pkg:oci"]);
  await until(place, 0, 2);
  await until(other, 1, 0);
});

test("a statement about a package inside of a product holds where an image has both", async () => {
  const [both, alone] = [await newPlace(), await newPlace()];
  const [part, product] = [await vulnerable(), `product-${next()}`];
  await push(both, "v1", part.name, product);
  await push(alone, "v1", part.name);
  await until(both, 1, 0);
  await until(alone, 1, 0);
  const products = [{ "@id": `pkg:npm/${product}`, subcomponents: [{ "@id": part.purl }] }];
  await putRecords(platform, "parts", "openvex", [vex("it", "", part.id, { products })], [], [`pkg:npm/${product}`]);
  await until(both, 0, 1);
  await until(alone, 1, 0);
});
