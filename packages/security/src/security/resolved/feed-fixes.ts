import { type Database, select } from "@moorage/kernel/store";
import { marks } from "../marks.ts";
import { recordKey } from "../findings/records.ts";
import { isAtLeast } from "../matching/versions.ts";
import { type KnownVulnerabilities, learnVulnerabilities, type Vulnerability } from "../findings/vulnerabilities.ts";
import type { Held, HeldImage, HeldPackage } from "./holdings.ts";

/** A vulnerability that records of feeds say a newer version of a package ended. */
export interface FeedFix {
  vulnerability: Vulnerability;
  /** The purl of the package without version and qualifiers. */
  base: string;
}

const ROWS = 300;

/**
 * What the step from some images to others ended, by the findings that are open now: vulnerabilities of packages that
 * the later ones have in fixed versions alone. A package that they do not have any more is no fix.
 */
export async function feedFixes(
  db: Database,
  held: Held,
  [from, to]: readonly [from: readonly HeldImage[], to: readonly HeldImage[]],
  known: KnownVulnerabilities,
): Promise<FeedFix[]> {
  const [before, after] = [packagesOf(held, from), packagesOf(held, to)];
  const later = Map.groupBy(after, ({ base }) => base);
  const kept = new Set(after.map(({ id }) => id));
  const gone = before.filter(({ id, base }) => !kept.has(id) && later.has(base));
  const found = await openFindings(db, gone);
  const bases = new Set(found.map(({ package: id }) => held.packages.get(id)?.base));
  const still = await openFindings(
    db,
    after.filter(({ base }) => bases.has(base)),
  );
  await learnVulnerabilities(
    db,
    [...found, ...still].map(({ feed, record: id }) => ({ feed, id })),
    known,
  );
  const idOf = (row: OpenFinding): string => known.get(recordKey({ feed: row.feed, id: row.record }))?.id ?? row.record;
  const open = new Set(still.map((row) => `${held.packages.get(row.package)?.base} ${idOf(row)}`));
  const fixes = new Map<string, FeedFix>();
  for (const row of found) {
    const old = held.packages.get(row.package);
    const vulnerability = known.get(recordKey({ feed: row.feed, id: row.record }));
    if (old === undefined || vulnerability === undefined) continue;
    const key = `${old.base} ${vulnerability.id}`;
    const versions = JSON.parse(row.fixed) as string[];
    if (open.has(key) || !(later.get(old.base) ?? []).every((each) => isFixed(each, versions))) continue;
    fixes.set(key, { vulnerability, base: old.base });
  }
  return [...fixes.values()];
}

function packagesOf(held: Held, images: readonly HeldImage[]): HeldPackage[] {
  const ids = new Set(images.flatMap(({ key }) => [...(held.images.get(key) ?? [])]));
  return [...ids].flatMap((id) => held.packages.get(id) ?? []);
}

function isFixed(held: HeldPackage, fixed: readonly string[]): boolean {
  // Records of distributions are about the source package.
  return fixed.some((each) => isAtLeast(held, held.source_name, each));
}

interface OpenFinding {
  package: string;
  feed: string;
  record: string;
  /** JSON. */
  fixed: string;
}

async function openFindings(db: Database, packages: readonly HeldPackage[]): Promise<OpenFinding[]> {
  const found: OpenFinding[] = [];
  for (let at = 0; at < packages.length; at += ROWS) {
    const ids = packages.slice(at, at + ROWS).map(({ id }) => id);
    found.push(
      ...(await select<OpenFinding>(
        db,
        `select package, feed, record, fixed from package_findings where package in (${marks(ids)}) and closed is null`,
        ids,
      )),
    );
  }
  return found;
}
