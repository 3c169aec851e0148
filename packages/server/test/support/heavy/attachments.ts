// What is attached to images: documents that are pushed, and statements about many vulnerabilities.
import { sql } from "kysely";
import { POSTGRES, SQLITE } from "../../../../../bench/seed-sql.ts";
import { pushArtifact } from "../catalog/push.ts";
import { ENGINE } from "../database.ts";
import { eventually } from "../eventually.ts";
import { pushHolding } from "./images.ts";
import type { HeavyAnswer, HeavyInput, HeavyWorld } from "./input.ts";

const CYCLONEDX = "application/vnd.cyclonedx+json";
const CSAF = "application/csaf+json";
const IN_TOTO = "application/vnd.in-toto+jsonl";
const MIB = 1024 * 1024;
/** The largest document that is answered whole, and the largest that is read. */
const RAW_BYTES = 16 * MIB;
const READ_BYTES = 64 * MIB;
const PACKAGES = 20_000;
/** Statements of one document, and how many documents are attached to one image. */
const STATEMENTS = 20_000;
const DOCUMENTS = 4;
/** What the notes of a CSAF document may name of products, in so many vulnerabilities. */
const CSAF_NAMED = 1_000_000;
const CSAF_VULNERABILITIES = 10;
const ATTESTATIONS = 50;
const FINDINGS = 10_000;
/** One for each request: what is known of an image is not read again. */
const IMAGES = 9;
const EPOCH_MS = 1_760_000_000_000;
const SERVED = [200, 429];

/** What is attached is read with images. */
const READS = { MOORAGE_CATALOG_IMAGES: "1" };

/** The states of a reading. */
const DONE = 2;
const FAILED = 3;
const READING = { state: DONE, attempts: 1, reason: "", holder: "", hold_until: 0 };

let documents = 0;

/** A CycloneDX document of so many bytes. */
function sbomOf(bytes: number, packages = PACKAGES): string {
  const rest = (filler: string): string => {
    const components = Array.from({ length: packages }, (_, n) => ({
      type: "library",
      name: `component-${n}`,
      version: "1.0.0",
      purl: `pkg:npm/component-${n}@1.0.0`,
      description: filler,
    }));
    return JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.6", serialNumber: `n${documents}`, components });
  };
  documents += 1;
  const text = rest("d".repeat(Math.floor((bytes - rest("").length) / packages)));
  return text + " ".repeat(bytes - text.length);
}

/** A CSAF document with as many statements as are read, and groups that come to as many products as notes may name. */
function csafOf(): string {
  documents += 1;
  const ids = Array.from({ length: STATEMENTS }, (_, n) => `p${n}`);
  const branches = ids.map((id, n) => ({
    category: "product_version",
    name: id,
    product: { product_id: id, name: id, product_identification_helper: { purl: `pkg:npm/package-${n}@1.0.0` } },
  }));
  const each = STATEMENTS / CSAF_VULNERABILITIES;
  const notes = CSAF_NAMED / CSAF_VULNERABILITIES / STATEMENTS;
  const vulnerabilities = Array.from({ length: CSAF_VULNERABILITIES }, (_, n) => ({
    cve: `CVE-2026-${1_000 + n}`,
    product_status: { known_affected: ids.slice(n * each, (n + 1) * each) },
    remediations: Array.from({ length: notes }, (_, at) => ({
      category: "vendor_fix",
      details: `update ${at}`,
      group_ids: ["all"],
    })),
  }));
  const tracking = { id: `csaf-${documents}`, current_release_date: "2026-11-01T08:00:00Z" };
  const document = { category: "csaf_vex", csaf_version: "2.0", publisher: { name: "Heavy" }, tracking };
  const product_tree = { branches, product_groups: [{ group_id: "all", product_ids: ids }] };
  return JSON.stringify({ document, product_tree, vulnerabilities });
}

/** As many attestations as one layer may have, one a line, and nearly as large as it may be. */
function attestationsOf(digest: string): string {
  const [algorithm = "", hash = ""] = digest.split(":");
  return Array.from({ length: ATTESTATIONS }, () =>
    JSON.stringify({
      _type: "https://in-toto.io/Statement/v1",
      subject: [{ name: "image", digest: { [algorithm]: hash } }],
      predicateType: "https://cyclonedx.org/bom",
      predicate: JSON.parse(
        sbomOf(Math.floor(READ_BYTES / ATTESTATIONS) - MIB / 8, PACKAGES / ATTESTATIONS),
      ) as unknown,
    }),
  ).join("\n");
}

async function stateOf(world: HeavyWorld, manifest: string): Promise<{ state: number; reason: string } | undefined> {
  let found: { state: number; reason: string } | undefined;
  await world.write(async (db) => {
    found = await db
      .selectFrom("attached_readings")
      .select(["state", "reason"])
      .where("manifest", "=", manifest)
      .executeTakeFirst();
  });
  return found;
}

interface Attached {
  repo: string;
  digest: string;
  content: string;
  mediaType?: string;
}

/** Attaches the document to the image of the repo, and waits until it was read. */
async function attach(world: HeavyWorld, { repo, digest, content, mediaType = CYCLONEDX }: Attached): Promise<void> {
  let name = "";
  await world.write(async (db) => {
    const row = await db.selectFrom("repos").select("name").where("uid", "=", repo).executeTakeFirstOrThrow();
    name = `${world.organization.name}/${row.name}`;
  });
  const layers = [{ mediaType, content }];
  const target = { url: world.url, token: world.registry, name };
  const manifest = await pushArtifact(target, { artifactType: mediaType, subject: digest, layers });
  await eventually(async () => {
    const { state, reason } = (await stateOf(world, manifest)) ?? {};
    if (state === FAILED) throw new Error(reason);
    return state === DONE;
  });
}

/** Writes what the reading of so many VEX documents would have written, about the findings of pushHolding. */
async function state(world: HeavyWorld, repo: string, digest: string): Promise<void> {
  await world.write(async (db) => {
    const { series, pad } = ENGINE === "sqlite" ? SQLITE : POSTGRES;
    for (let at = 0; at < DOCUMENTS; at += 1) {
      const manifest = `sha256:${String(at).padStart(64, "0")}`;
      const of = { subject: digest, manifest };
      await db
        .insertInto("attachments")
        .values({ ...of, repo, via: "", from_time: EPOCH_MS, until_time: null, trusted: 1 })
        .execute();
      await db
        .insertInto("attached_readings")
        .values({ ...of, ...READING, create_time: EPOCH_MS, finish_time: EPOCH_MS })
        .execute();
      const document = { n: 0, layer: digest, media_type: "application/openvex+json", kind: "openvex", reason: "" };
      const said = { time: EPOCH_MS, packages: 0, statements: STATEMENTS, document_id: `d${at}`, author: "Heavy" };
      await db
        .insertInto("attached_documents")
        .values({ ...of, ...document, ...said })
        .execute();
      await sql
        .raw(
          `insert into attached_statements (subject, manifest, n, i, ids, status, justification, impact, target, product, time)
           select '${digest}', '${manifest}', 0, s.i, '["cve-2026-' || ${pad(`(s.i % ${FINDINGS})`)} || '"]', 'under_investigation', '', '', 'pkg:npm/package-' || ${pad(`(s.i % ${FINDINGS})`)}, '${digest}', ${EPOCH_MS} + s.i
             from ${series(STATEMENTS)} as s`,
        )
        .execute(db);
    }
  });
}

/** Documents that are attached and read: `contentOf` makes another each time. */
function reading(title: string, mediaType: string, contentOf: (digest: string) => string): HeavyInput {
  return {
    title,
    statuses: [200],
    times: 2,
    env: READS,
    async prepare(world) {
      const { repo, digests } = await pushHolding(world, [{ packages: 1 }]);
      const digest = digests[0] ?? "";
      return async (began): Promise<HeavyAnswer> => {
        await attach(world, { repo, digest, content: contentOf(digest), mediaType });
        began?.(200);
        return { status: 200, headers: {}, bytes: 0, text: "" };
      };
    },
  };
}

function stated(
  title: string,
  findings: number,
  path: (image: { repo: string; digest: string }) => string,
): HeavyInput {
  return {
    title,
    statuses: SERVED,
    // The process that is asked the second time is there already.
    pings: 3,
    async prepare(world) {
      const { repo, digests } = await pushHolding(world, [{ packages: findings, findings }]);
      const digest = digests[0] ?? "";
      await state(world, repo, digest);
      return (began) => world.send("GET", path({ repo, digest }), { token: world.platform, ...(began && { began }) });
    },
  };
}

export const ATTACHED: readonly HeavyInput[] = [
  {
    title: "an attached SBOM of 16 MiB as it was pushed",
    statuses: SERVED,
    env: READS,
    async prepare(world) {
      const { repo, digests } = await pushHolding(world, [{ packages: 1 }]);
      const digest = digests[0] ?? "";
      await attach(world, { repo, digest, content: sbomOf(RAW_BYTES) });
      const path = `/registry/v2/repos/${repo}/digests/${digest}/rawSbom`;
      return (began) => world.send("GET", path, { token: world.platform, ...(began && { began }) });
    },
  },
  reading("the reading of an attached SBOM of 64 MiB", CYCLONEDX, () => sbomOf(READ_BYTES)),
  reading("the reading of an attached CSAF document whose groups name a million products", CSAF, csafOf),
  reading("the reading of 50 attestations in a layer of nearly 64 MiB", IN_TOTO, attestationsOf),
  stated(
    "findings of an image with 80,000 statements attached",
    100,
    ({ repo, digest }) => `/vulnerabilities/v2/findings?repo=${repo}&digest=${digest}`,
  ),
  stated(
    "the VEX of an image with 80,000 statements attached",
    100,
    ({ repo, digest }) => `/vulnerabilities/v2/repos/${repo}/vex?reference=${digest}`,
  ),
  {
    title: "a pull under a gate of an image with 10,000 findings and 80,000 statements attached",
    statuses: [403],
    async prepare(world) {
      const { repo, digests } = await pushHolding(
        world,
        Array.from({ length: IMAGES }, () => ({ packages: FINDINGS, findings: FINDINGS })),
      );
      for (const digest of digests) await state(world, repo, digest);
      const gate = { mode: "ENFORCE", on: ["PULL"] };
      const answer = await world.send("PATCH", `/registry/v2/repos/${repo}?updateMask=tagPolicy`, {
        token: world.platform,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ tagPolicy: { vulnerabilities: gate } }),
      });
      if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
      const { name } = JSON.parse(answer.text) as { name: string };
      let at = 0;
      return (began) => {
        const path = `/v2/${world.organization.name}/${name}/manifests/${digests[at % IMAGES]}`;
        at += 1;
        return world.send("GET", path, { token: world.registry, ...(began && { began }) });
      };
    },
  },
  {
    title: "a promotion under a gate of an image with 10,000 findings and 80,000 statements attached",
    statuses: [400],
    writes: true,
    times: 4,
    async prepare(world) {
      const { repo, digests } = await pushHolding(world, [{ packages: FINDINGS, findings: FINDINGS }]);
      const [digest = ""] = digests;
      await state(world, repo, digest);
      const json = (
        method: string,
        path: string,
        body: object,
        began?: (status: number) => void,
      ): Promise<HeavyAnswer> =>
        world.send(method, path, {
          token: world.platform,
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
          ...(began && { began }),
        });
      const gate = { mode: "ENFORCE", on: ["PROMOTE"] };
      const { status, text } = await json("PATCH", `/registry/v2/repos/${repo}?updateMask=tagPolicy`, {
        tagPolicy: { vulnerabilities: gate },
      });
      if (status !== 200) throw new Error(`${status} ${text}`);
      const reopen = async (): Promise<void> =>
        // The server closes what it does not find in a feed.
        world.write(async (db) => {
          await db.updateTable("package_findings").set({ closed: null, reason_closed: "" }).execute();
        });
      return async (began) => {
        await reopen();
        return await json(
          "POST",
          `/registry/v2/tags/${repo}:promote`,
          { promotions: [{ name: "stable", digest }] },
          began,
        );
      };
    },
  },
];
