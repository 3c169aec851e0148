import type { Turn } from "@moorage/kernel/lib/turns";
import { type Database, select } from "@moorage/kernel/store";
import type { EpssBody } from "../feeds/epss.ts";
import { type Severity, SEVERITIES } from "../records/severities.ts";
import { recordKey } from "./records.ts";

/** A vulnerability, as all records together have it that mean the same by their aliases. */
export interface Vulnerability {
  /** The CVE if there is one. */
  id: string;
  /** Its other ids, in their order. */
  aliases: string[];
  severity: Severity;
  /** CVSS, 0 to 10. */
  score?: number;
  isExploited: boolean;
  epss?: EpssBody;
}

/** A record: the name of its feed, and its id there. */
export interface RecordName {
  feed: string;
  id: string;
}

/** What a call has read of vulnerabilities, by recordKey: one record affects packages of many images. */
export type KnownVulnerabilities = Map<string, Vulnerability>;

interface Said extends RecordName {
  format: string;
  severity: Severity;
  score: number | null;
  /** Of a score of EPSS. */
  body: string;
}

const ROWS = 300;
// Of the others, those of a distribution are about one package each, and say nothing about the vulnerability itself.
const GENERAL = "'osv', 'kev', 'epss'";

/**
 * Adds what is known of the vulnerabilities of these records. Two records mean the same when one has an id or alias of
 * the other, also by way of a third one; but a record with several CVEs, as distributions publish them, is one by
 * itself. What is known of the vulnerability that a record is about in its own packages holds for the record, and what
 * the record says holds for no other. The severity is the worst that CVSS gives, else the worst word of the record
 * itself, else of the others.
 */
export async function learnVulnerabilities(
  db: Database,
  records: readonly RecordName[],
  known: KnownVulnerabilities,
  turn?: Turn,
): Promise<void> {
  const asked = [...new Map(records.map((record) => [recordKey(record), record])).values()].filter(
    (record) => !known.has(recordKey(record)),
  );
  if (asked.length === 0) return;
  const idsOf = await idsByRecord(db, asked, OWN, turn);
  const said = await saidBy(db, asked, turn);
  const about = new Map<string, Said[]>();
  const names = new Map<string, string>();
  // First by the ids of the records themselves, then by those that others give the same vulnerability.
  let looked = new Set<string>();
  for (let round = 0; round < 2; round += 1) {
    const ids = new Set([...idsOf.values()].flat().filter((id) => !looked.has(id)));
    const found = await recordsAbout(db, [...ids], turn);
    for (const { key, record } of found) {
      const known = about.get(key);
      if (known === undefined) about.set(key, [record]);
      else known.push(record);
      if (record.id.toLowerCase() === key) names.set(key, record.id);
    }
    looked = new Set([...looked, ...ids]);
    const others = found.map(({ record }) => record).filter(({ format }) => format === "osv");
    for (const [key, ids] of await idsByRecord(
      db,
      others.filter((each) => !idsOf.has(recordKey(each))),
      OF_OTHERS,
      turn,
    ))
      idsOf.set(key, ids);
  }
  for (const record of asked) {
    known.set(recordKey(record), vulnerabilityOf(record, { idsOf, about, names, own: said.get(recordKey(record)) }));
    await turn?.();
  }
}

interface Sayings {
  idsOf: ReadonlyMap<string, readonly string[]>;
  about: ReadonlyMap<string, readonly Said[]>;
  names: ReadonlyMap<string, string>;
  own: Said | undefined;
}

function vulnerabilityOf(record: RecordName, { idsOf, about, names, own }: Sayings): Vulnerability {
  const ids = new Set(idsOf.get(recordKey(record)) ?? []);
  const isOfSeveral = cvesOf(ids).length > 1;
  // The loop comes to those that it adds, too: an id that another record gives may be known to a third one.
  for (const id of ids)
    for (const other of isOfSeveral ? [] : (about.get(id) ?? [])) {
      const more = idsOf.get(recordKey(other)) ?? [];
      if (cvesOf(new Set([...ids, ...more])).length <= 1) for (const each of more) ids.add(each);
    }
  const shown = [...ids].map((id) => names.get(id) ?? displayed(id)).sort(byWeight);
  // Of a record that is gone only its id is left; that of a distribution ends with the vulnerability.
  const id = (isOfSeveral ? undefined : shown[0]) ?? record.id.split("/").at(-1) ?? "";
  const others = isOfSeveral
    ? []
    : [...ids]
        .flatMap((each) => about.get(each) ?? [])
        .filter((each) => cvesOf(idsOf.get(recordKey(each)) ?? []).length <= 1);
  const rated = [...(own === undefined ? [] : [own]), ...others.filter(({ format }) => format === "osv")];
  const scored = rated.filter(({ score }) => score !== null).sort((a, b) => (b.score ?? 0) - (a.score ?? 0))[0];
  const exploited = [...ids].flatMap((each) => about.get(each) ?? []);
  const epss = exploited.filter(({ format }) => format === "epss").map(({ body }) => JSON.parse(body) as EpssBody);
  return {
    id,
    aliases: shown.filter((each) => each !== id),
    severity: scored?.severity ?? worst(own === undefined ? [] : [own]) ?? worst(rated) ?? "UNKNOWN",
    ...(typeof scored?.score === "number" && { score: scored.score / 10 }),
    isExploited: exploited.some(({ format }) => format === "kev"),
    ...(epss.length > 0 && { epss: epss.reduce((a, b) => (b.epss > a.epss ? b : a)) }),
  };
}

function worst(all: readonly Said[]): Severity | undefined {
  const rank = Math.max(...all.map(({ severity }) => SEVERITIES.indexOf(severity)), 0);
  return rank === 0 ? undefined : SEVERITIES[rank];
}

const cvesOf = (ids: Iterable<string>): string[] => [...ids].filter((id) => id.startsWith("cve-"));

/** CVEs first, then GHSAs, then the others by the alphabet. */
function byWeight(a: string, b: string): number {
  const weight = (id: string): number => (id.startsWith("CVE-") ? 0 : id.startsWith("GHSA-") ? 1 : 2);
  return weight(a) - weight(b) || (a < b ? -1 : a > b ? 1 : 0);
}

/** An id in the usual writing. Keys are in lower case. */
function displayed(id: string): string {
  return id.startsWith("ghsa-") ? `GHSA${id.slice(4)}` : id.toUpperCase();
}

/** The kinds of keys that name the vulnerability of a record, and of one that says something about it beside others. */
const OWN = "'alias', 'upstream', 'former'";
const OF_OTHERS = "'alias', 'former'";

/** The ids of the vulnerability that records have by keys of these kinds, in lower case. */
async function idsByRecord(
  db: Database,
  records: readonly RecordName[],
  kinds: string,
  turn: Turn | undefined,
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>(records.map((record) => [recordKey(record), []]));
  for (const [feed, some] of Map.groupBy(records, (record) => record.feed))
    for (let at = 0; at < some.length; at += ROWS) {
      const ids = some.slice(at, at + ROWS).map(({ id }) => id);
      // Records of distributions have ids of their own, made of the package and the vulnerability.
      const rows = await select<{ key: string; record: string }>(
        db,
        `select k.key, k.record from feed_keys as k left join feeds as f on f.name = k.feed
         where k.feed = ? and k.record in (${ids.map(() => "?").join(", ")}) and (k.kind in (${kinds}) or (k.kind = 'id' and f.format in (${GENERAL})))`,
        [feed, ...ids],
      );
      for (const { key, record: id } of rows) found.get(recordKey({ feed, id }))?.push(key);
      await turn?.();
    }
  return found;
}

async function saidBy(
  db: Database,
  records: readonly RecordName[],
  turn: Turn | undefined,
): Promise<Map<string, Said>> {
  const found = new Map<string, Said>();
  for (const [feed, some] of Map.groupBy(records, (record) => record.feed))
    for (let at = 0; at < some.length; at += ROWS) {
      const ids = some.slice(at, at + ROWS).map(({ id }) => id);
      const rows = await select<Said>(
        db,
        `select r.feed, r.id, '' as format, r.severity, r.score_tenths as score, '' as body from feed_records as r
         where r.feed = ? and r.id in (${ids.map(() => "?").join(", ")})`,
        [feed, ...ids],
      );
      for (const row of rows) found.set(recordKey(row), row);
      await turn?.();
    }
  return found;
}

/** The general records that have one of these ids or aliases, with which. Withdrawn ones say nothing. */
async function recordsAbout(
  db: Database,
  ids: readonly string[],
  turn: Turn | undefined,
): Promise<{ key: string; record: Said }[]> {
  const found: { key: string; record: Said }[] = [];
  for (let at = 0; at < ids.length; at += ROWS) {
    const some = ids.slice(at, at + ROWS);
    const rows = await select<Said & { key: string }>(
      db,
      `select k.key, r.feed, r.id, f.format, r.severity, r.score_tenths as score, case when f.format = 'epss' then r.body else '' end as body
       from feed_keys as k join feeds as f on f.name = k.feed and f.format in (${GENERAL}) join feed_records as r on r.feed = k.feed and r.id = k.record
       where k.kind in ('id', 'alias') and k.key in (${some.map(() => "?").join(", ")}) and r.removed = 0 and r.withdrawn is null`,
      some,
    );
    for (const { key, ...record } of rows) found.push({ key, record });
    await turn?.();
  }
  return found;
}
