import { setImmediate } from "node:timers/promises";
import { PackageURL } from "packageurl-js";
import { isObject } from "../../lib/json.ts";
import { type Database, select } from "../../store/index.ts";
import { decisionsAbout, decisionsOn, type DecidedPackage, isClosedBy } from "../findings/decisions.ts";
import { feedStatements } from "../findings/feed-statements.ts";
import type { Severity } from "../feeds/severities.ts";
import type { Interval } from "../matching/affected.ts";
import { lookupsOf } from "../matching/package-keys.ts";
import { hitOf, type RecordAffects, recordAffects } from "../matching/record-affects.ts";

/** Versions of a library that somebody asks about. */
export interface AskedLibrary {
  /** The type of its purl, and its parts. */
  type: "npm" | "pypi" | "maven";
  namespace: string;
  name: string;
  versions: readonly string[];
}

/** A vulnerability in versions of a library. */
export interface LibraryVulnerability {
  /** The id of the record, and the others of the vulnerability. */
  id: string;
  aliases: string[];
  summary: string;
  severity: Severity;
  /** CVSS in tenths. */
  scoreTenths: number | null;
  /** Where its sources say more. */
  urls: string[];
  cwes: string[];
  /** Those of the versions asked about that are affected, by the records and by what the group has decided. */
  versions: string[];
  /** What the record says is affected; undefined where it lists versions alone, or decisions have left out some. */
  intervals: Interval[] | undefined;
}

interface FoundRecord {
  key: string;
  id: string;
  format: string;
  severity: Severity;
  score: number | null;
  body: string;
}

const KEYS_AT_ONCE = 100;
const MAX_RECORDS = 2_000;

/**
 * What the feeds know of versions of libraries, without what advisories of the group, those above it, or trusted VEX
 * documents say does not affect them. In the order of `asked`: for each its vulnerabilities, by their ids.
 */
export async function libraryVulnerabilities(
  db: Database,
  group: string,
  asked: readonly AskedLibrary[],
): Promise<LibraryVulnerability[][]> {
  const keyed = asked.map((library) => lookupsOf({ ...library, version: "" })[0]?.key ?? "");
  const records = await recordsUnder(
    db,
    [...new Set(keyed)].filter((key) => key !== ""),
  );
  const found: LibraryVulnerability[][] = [];
  for (const [at, library] of asked.entries()) {
    const key = keyed[at] ?? "";
    const known = (records.get(key) ?? []).flatMap((record) => affectedBy(record, library) ?? []);
    found.push(known.length === 0 ? [] : await undecided(db, group, library, known));
    if (known.length > 0) await setImmediate();
  }
  return found;
}

async function recordsUnder(db: Database, keys: readonly string[]): Promise<Map<string, FoundRecord[]>> {
  const found = new Map<string, FoundRecord[]>();
  for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
    const some = keys.slice(at, at + KEYS_AT_ONCE);
    const rows = await select<FoundRecord>(
      db,
      `select k.key, r.id, f.format, r.severity, r.score_tenths as score, r.body from feed_keys as k
       join feeds as f on f.name = k.feed and f.format = 'osv' join feed_records as r on r.feed = k.feed and r.id = k.record
       where k.kind = 'package' and k.key in (${some.map(() => "?").join(", ")}) and r.removed = 0 and r.withdrawn is null
       order by k.key, r.id limit ${MAX_RECORDS}`,
      some,
    );
    for (const row of rows) found.set(row.key, [...(found.get(row.key) ?? []), row]);
    await setImmediate();
  }
  return found;
}

function affectedBy(record: FoundRecord, { versions }: AskedLibrary): LibraryVulnerability | undefined {
  const { key, id, format, severity, score, body } = record;
  const affects = recordAffects(format, body).get(key) ?? [];
  const of = new Map([[key, affects]]);
  const hit = versions.filter((version) => hitOf(of, [{ key, version }]) !== undefined);
  if (hit.length === 0) return undefined;
  const content = JSON.parse(body) as Record<string, unknown>;
  const references = Array.isArray(content["references"]) ? content["references"] : [];
  const specific = isObject(content["database_specific"]) ? content["database_specific"] : {};
  return {
    id,
    aliases: textsIn(content["aliases"]),
    summary: typeof content["summary"] === "string" ? content["summary"] : "",
    severity,
    scoreTenths: score,
    urls: references.flatMap((each: unknown) =>
      isObject(each) && typeof each["url"] === "string" ? [each["url"]] : [],
    ),
    cwes: textsIn(specific["cwe_ids"]),
    versions: hit,
    intervals: intervalsOf(affects),
  };
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function intervalsOf(affects: readonly RecordAffects[]): Interval[] | undefined {
  if (affects.some(({ affected }) => affected.ranges.length === 0)) return undefined;
  if (affects.some(({ affected }) => affected.ranges.some(({ limits }) => limits !== undefined))) return undefined;
  return affects.flatMap(({ affected }) => affected.ranges.flatMap(({ intervals }) => intervals));
}

/** The vulnerabilities without the versions of which somebody who may decide says that they are not affected. */
async function undecided(
  db: Database,
  group: string,
  library: AskedLibrary,
  known: readonly LibraryVulnerability[],
): Promise<LibraryVulnerability[]> {
  // Decisions are looked up for what is in a group: a repo of no name stands for the library.
  const place = { repo: `${group}/0`, digest: "", atMs: undefined };
  const idsOf = ({ id, aliases }: LibraryVulnerability): string[] => [id, ...aliases];
  const packages = new Map(library.versions.map((version) => [version, packageOf(library, version)]));
  const decisions = await decisionsAbout(db, place, known.flatMap(idsOf));
  const about = known.flatMap((each) =>
    each.versions.map((version) => ({ purl: packages.get(version)?.package.purl ?? "", ids: idsOf(each) })),
  );
  const said = await feedStatements(db, place, "", about);
  return known.flatMap((each) => {
    const ids = idsOf(each);
    const left = each.versions.filter((version) => {
      const held = packages.get(version);
      if (held === undefined) return true;
      for (const decision of decisionsOn(decisions, held, ids)) {
        const isClosed = isClosedBy(decision, held);
        if (isClosed !== undefined) return !isClosed;
      }
      const status = said({ purl: held.package.purl, ids })?.status;
      return status !== "not_affected" && status !== "fixed";
    });
    if (left.length === 0) return [];
    return [{ ...each, versions: left, intervals: left.length === each.versions.length ? each.intervals : undefined }];
  });
}

function packageOf({ type, namespace, name }: AskedLibrary, version: string): DecidedPackage {
  const purl = new PackageURL(type, namespace === "" ? undefined : namespace, name, version).toString();
  const full = namespace === "" ? name : `${namespace}${type === "maven" ? ":" : "/"}${name}`;
  const own = { id: "", ecosystem: type, source_name: "", source_version: "", purl, name: full, version, licence: "" };
  // A place that no advisory names: those about a file of an image are about others.
  return { package: own, places: [{ path: "" }] };
}
