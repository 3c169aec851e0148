import type { Call } from "@moorage/kernel/core/call";
import { createTurns } from "@moorage/kernel/lib/turns";
import { isIndexType } from "@moorage/kernel/core/media-types";
import { type Database, select } from "@moorage/kernel/store";
import { CATALOG_STATE } from "../catalog/rows.ts";
import { namedPackages } from "../packages/by-name.ts";
import { imagesBehind } from "./images.ts";
import { isAbout } from "../vex/applies.ts";
import { resolveLinks } from "../attached/links.ts";
import { countingSources, sourceOf } from "../attached/sources.ts";

/** The statements of a document that are about nothing in the image. */
export interface Unmatched {
  /** Of those that are about a package, or the image. */
  count: number;
  /** The first of all, those included that are about something else. */
  first: { vulnerabilities: string[]; status: string; product: string; reason: string }[];
}

interface StatementRow {
  manifest: string;
  n: number;
  ids: string;
  status: string;
  target: string;
  trusted: number;
}

const MAX_LISTED = 200;
const PAGE = 2_000;
/** The most statements that are looked at. */
const MAX_STATEMENTS = 100_000;
const NO_SBOM = "no SBOM that is attached has the component that it links to";
const NOT_HELD = "the image holds no such package";

/**
 * Which statements of what is attached to a digest are about no package that it holds, by the source of the document;
 * of an index, about none that it or one of its images holds. That they are about vulnerabilities which nobody found in
 * a package that is there is no reason. `isListed`: with the first of them.
 */
export async function unmatchedStatements(
  { tx, weigh }: Pick<Call, "tx" | "weigh">,
  { repo, digest, sources, isListed }: { repo: string; digest: string; sources: readonly string[]; isListed: boolean },
): Promise<Map<string, Unmatched>> {
  const found = new Map<string, Unmatched>();
  const of = (manifest: string, n: number): Unmatched => {
    const source = sourceOf(manifest, n);
    const known = found.get(source) ?? { count: 0, first: [] };
    found.set(source, known);
    return known;
  };
  const stored = await statementsOf({ tx, weigh }, repo, digest);
  const targetOf = await resolveLinks(
    tx,
    { repo, subjects: [digest] },
    stored.map(({ target }) => ({ target, isClaim: true })),
  );
  const statements = stored.map((row) => ({ ...row, means: targetOf({ ...row, isClaim: row.trusted !== 1 }) }));
  if (statements.length > 0) {
    const turn = createTurns();
    const targets = [...new Set(statements.flatMap(({ means }) => means ?? []))].filter((target) => target !== "");
    const held = new Set<string>();
    for (const image of await holders(tx, { repo, digest, sources })) {
      const named = await namedPackages(tx, targets, { image, turn });
      for (const target of targets) {
        if (named(target).some((each) => isAbout(target, each))) held.add(target);
        await turn();
      }
    }
    for (const { manifest, n, ids, status, target, means } of statements) {
      if (means === "" || (means !== undefined && held.has(means))) continue;
      const unmatched = of(manifest, n);
      unmatched.count += 1;
      if (isListed && unmatched.first.length < MAX_LISTED)
        unmatched.first.push({
          vulnerabilities: JSON.parse(ids) as string[],
          status,
          product: target,
          reason: means === undefined ? NO_SBOM : NOT_HELD,
        });
    }
  }
  if (isListed) for (const row of await passedOver(tx, repo, digest)) add(of(row.manifest, row.n), row);
  return found;
}

function add({ first }: Unmatched, { ids, status, product, reason }: PassedOverRow): void {
  if (first.length < MAX_LISTED) first.push({ vulnerabilities: JSON.parse(ids) as string[], status, product, reason });
}

/** What holds the packages that a document may be about: the image, or the images of the index beside itself. */
async function holders(
  tx: Database,
  { repo, digest, sources }: { repo: string; digest: string; sources: readonly string[] },
): Promise<{ digest: string; sources: readonly string[] }[]> {
  const row = await tx
    .selectFrom("manifests")
    .select("media_type")
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .executeTakeFirst();
  const found = [{ digest, sources }];
  if (row === undefined || !isIndexType(row.media_type)) return found;
  for (const each of (await imagesBehind(tx, repo, digest)).slice(0, MAX_IMAGES))
    if (each !== digest) {
      const own = (await countingSources(tx, { repo, digest: each })).map(({ source }) => source);
      found.push({ digest: each, sources: own });
    }
  return found;
}

const MAX_IMAGES = 50;

async function statementsOf(
  { tx, weigh }: Pick<Call, "tx" | "weigh">,
  repo: string,
  digest: string,
): Promise<StatementRow[]> {
  const documents = await select<{ manifest: string; n: number; statements: number; trusted: number }>(
    tx,
    `select d.manifest, d.n, d.statements, a.trusted from attachments as a
     join attached_readings as r on r.subject = a.subject and r.manifest = a.manifest and r.state = ${CATALOG_STATE.done}
     join attached_documents as d on d.subject = a.subject and d.manifest = a.manifest and d.statements > 0
     where a.repo = ? and a.subject = ? and a.until_time is null order by a.from_time desc, d.manifest, d.n`,
    [repo, digest],
  );
  weigh(documents.reduce((sum, { statements }) => sum + statements, 0));
  const found: StatementRow[] = [];
  for (const { manifest, n, statements, trusted } of documents)
    for (let from = 0; from < statements && found.length < MAX_STATEMENTS; from += PAGE)
      found.push(
        ...(
          await select<Omit<StatementRow, "trusted">>(
            tx,
            "select manifest, n, ids, status, target from attached_statements where subject = ? and manifest = ? and n = ? and i >= ? and i < ? order by i",
            [digest, manifest, n, from, from + PAGE],
          )
        ).map((row) => ({ ...row, trusted })),
      );
  return found;
}

interface PassedOverRow {
  manifest: string;
  n: number;
  ids: string;
  status: string;
  product: string;
  reason: string;
}

async function passedOver(tx: Database, repo: string, digest: string): Promise<PassedOverRow[]> {
  return await select<PassedOverRow>(
    tx,
    `select p.manifest, p.n, p.ids, p.status, p.product, p.reason from attachments as a
     join attached_passed_over as p on p.subject = a.subject and p.manifest = a.manifest
     where a.repo = ? and a.subject = ? and a.until_time is null order by p.manifest, p.n, p.i limit 20000`,
    [repo, digest],
  );
}
