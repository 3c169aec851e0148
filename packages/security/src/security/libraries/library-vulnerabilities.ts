import { setImmediate } from "node:timers/promises";
import { namedPurl, writePurl } from "@moorage/kernel/lib/purls";
import { isObject } from "@moorage/kernel/lib/json";
import { createTurns } from "@moorage/kernel/lib/turns";
import { isWebUrl } from "@moorage/kernel/lib/web-url";
import { type Database, select } from "@moorage/kernel/store";
import { decisionsAbout, decisionsOn, type DecidedPackage, isClosedBy } from "../findings/decisions.ts";
import { feedStatements } from "../findings/feed-statements.ts";
import { decidedIds } from "../findings/read.ts";
import { recordKey } from "../findings/records.ts";
import { type KnownVulnerabilities, learnVulnerabilities, type Vulnerability } from "../findings/vulnerabilities.ts";
import type { Severity } from "../records/severities.ts";
import type { Interval } from "../matching/affected-ranges.ts";
import { type Hit, hitOf, type RecordAffects, recordAffects } from "../matching/record-affects.ts";
import { type LibraryName, libraryKey } from "./held-versions.ts";

/** Versions of a library that somebody asks about. */
export interface AskedLibrary extends LibraryName {
  versions: readonly string[];
}

/** A vulnerability in versions of a library. */
export interface LibraryVulnerability {
  /** The id of the record, in which feed, and the others of the vulnerability. */
  id: string;
  feed: string;
  aliases: string[];
  /** The vulnerability, as all records together have it that mean the same. */
  vulnerability: Vulnerability;
  summary: string;
  severity: Severity;
  /** CVSS in tenths. */
  scoreTenths: number | null;
  /** Where its sources say more. */
  urls: string[];
  cwes: string[];
  /** Those of the versions asked about that are affected, by the records and by what the group has decided. */
  versions: string[];
  /** What the record says of each of the versions asked about that it affects. */
  hits: ReadonlyMap<string, Hit>;
  /** What the record says is affected; undefined where it lists versions alone, or decisions have left out some. */
  intervals: Interval[] | undefined;
}

interface FoundRecord {
  key: string;
  feed: string;
  id: string;
  format: string;
  severity: Severity;
  score: number | null;
  body: string;
}

const KEYS_AT_ONCE = 100;
const MAX_RECORDS = 2_000;

/** The beginning of the ids of OSV's records of malware. Source: github.com/ossf/malicious-packages. */
const MALWARE = "MAL-";

/** Whether the record, or the vulnerability that it is about, is of malware. */
export const isMalware = ({ id, aliases }: Pick<LibraryVulnerability, "id" | "aliases">): boolean =>
  [id, ...aliases].some((each) => each.startsWith(MALWARE));

/** Whether a feed has records of malware, with which versions are compared. */
export async function hasMalwareRecords(db: Database): Promise<boolean> {
  const key = MALWARE.toLowerCase();
  // "." follows "-".
  const rows = await select<{ one: number }>(
    db,
    `select 1 as one from feed_keys as k where k.kind = 'id' and k.key >= '${key}' and k.key < '${key.replace("-", ".")}'
     and exists (select 1 from feeds as f where f.name = k.feed and f.format = 'osv') limit 1`,
    [],
  );
  return rows.length > 0;
}

/**
 * What the feeds know of versions of libraries, without what advisories of the group, those above it, or trusted VEX
 * documents say does not affect them. In the order of `asked`: for each its vulnerabilities, by their ids. `only`:
 * records of that kind alone.
 */
export async function libraryVulnerabilities(
  db: Database,
  group: string,
  asked: readonly AskedLibrary[],
  only?: "malware",
): Promise<LibraryVulnerability[][]> {
  const turn = createTurns();
  const keyed: string[] = [];
  for (const library of asked) {
    keyed.push(libraryKey(library));
    await turn();
  }
  const records = await recordsUnder(
    db,
    [...new Set(keyed)].filter((key) => key !== ""),
    only === "malware" ? ` and r.id >= '${MALWARE}' and r.id < '${MALWARE.replace("-", ".")}'` : "",
  );
  const affected: Affecting[][] = [];
  for (const [at, library] of asked.entries()) {
    const known: Affecting[] = [];
    for (const record of records.get(keyed[at] ?? "") ?? []) {
      known.push(...[affectedBy(record, library) ?? []].flat());
      await turn();
    }
    affected.push(known);
  }
  const vulnerabilities: KnownVulnerabilities = new Map();
  await learnVulnerabilities(db, affected.flat(), vulnerabilities);
  const found: LibraryVulnerability[][] = [];
  for (const [at, library] of asked.entries()) {
    const known = (affected[at] ?? []).flatMap((each): LibraryVulnerability[] => {
      const vulnerability = vulnerabilities.get(recordKey(each));
      return vulnerability === undefined ? [] : [{ ...each, vulnerability }];
    });
    found.push(known.length === 0 ? [] : await undecided(db, group, library, known));
    await turn();
  }
  return found;
}

type Affecting = Omit<LibraryVulnerability, "vulnerability">;

async function recordsUnder(db: Database, keys: readonly string[], among: string): Promise<Map<string, FoundRecord[]>> {
  const found = new Map<string, FoundRecord[]>();
  for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
    const some = keys.slice(at, at + KEYS_AT_ONCE);
    const rows = await select<FoundRecord>(
      db,
      `select k.key, r.feed, r.id, f.format, r.severity, r.score_tenths as score, r.body from feed_keys as k
       join feeds as f on f.name = k.feed and f.format = 'osv' join feed_records as r on r.feed = k.feed and r.id = k.record
       where k.kind = 'package' and k.key in (${some.map(() => "?").join(", ")}) and r.removed = 0 and r.withdrawn is null${among}
       order by k.key, r.id limit ${MAX_RECORDS}`,
      some,
    );
    for (const row of rows) found.set(row.key, [...(found.get(row.key) ?? []), row]);
    await setImmediate();
  }
  return found;
}

function affectedBy(record: FoundRecord, { versions }: AskedLibrary): Affecting | undefined {
  const { key, feed, id, format, severity, score, body } = record;
  const affects = recordAffects(format, body).get(key) ?? [];
  const of = new Map([[key, affects]]);
  const hits = new Map<string, Hit>();
  for (const version of versions) {
    const hit = hitOf(of, [{ key, version }]);
    if (hit !== undefined) hits.set(version, hit);
  }
  if (hits.size === 0) return undefined;
  const content = JSON.parse(body) as Record<string, unknown>;
  const references = Array.isArray(content["references"]) ? content["references"] : [];
  const specific = isObject(content["database_specific"]) ? content["database_specific"] : {};
  return {
    id,
    feed,
    aliases: textsIn(content["aliases"]),
    summary: typeof content["summary"] === "string" ? content["summary"] : "",
    severity,
    scoreTenths: score,
    urls: references.flatMap((each: unknown) =>
      isObject(each) && typeof each["url"] === "string" && isWebUrl(each["url"]) ? [each["url"]] : [],
    ),
    cwes: textsIn(specific["cwe_ids"]),
    versions: [...hits.keys()],
    hits,
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
  const idsOf = ({ id, vulnerability }: LibraryVulnerability): string[] => [
    ...new Set([id, ...decidedIds(vulnerability)]),
  ];
  const packages = new Map(library.versions.map((version) => [version, packageOf(library, version)]));
  const decisions = await decisionsAbout(db, place, known.flatMap(idsOf));
  const about = known.flatMap((each) =>
    each.versions.map((version) => ({ purl: packages.get(version)?.package.purl ?? "", ids: idsOf(each) })),
  );
  const said = await feedStatements(db, place, [], about);
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

/** A version of the library as advisories are asked about it. */
export function packageOf({ type, namespace, name }: LibraryName, version: string): DecidedPackage {
  const { qualifiers: _, ...parts } = namedPurl({ type, namespace, name, version, qualifiers: new Map() });
  const purl = writePurl(parts);
  const full = namespace === "" ? name : `${namespace}${type === "maven" ? ":" : "/"}${name}`;
  const own = { id: "", ecosystem: type, source_name: "", source_version: "", purl, name: full, version, licence: "" };
  // A place that no advisory names: those about a file of an image are about others.
  return { package: own, places: [{ path: "" }] };
}
