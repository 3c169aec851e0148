import type { Turn } from "@moorage/kernel/lib/turns";
import { type Database, select, snapshotCaches } from "@moorage/kernel/store";
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

/** Each takes some 400 bytes. */
const MAX_KNOWN = 20_000;
const learned = snapshotCaches<Vulnerability>(MAX_KNOWN);

/**
 * Adds what is known of the vulnerabilities of these records. Two records mean the same when one has an id or alias of
 * the other, also by way of a third one; but a record with several CVEs, as distributions publish them, is one by
 * itself. What is known of the vulnerability that a record is about in its own packages holds for the record, and what
 * the record says holds for no other. The severity is the worst that CVSS gives, else the worst word of the record
 * itself, else of the others. It is the same whichever records are asked about together, so that it is cached until a
 * feed changes.
 */
export async function learnVulnerabilities(
  db: Database,
  records: readonly RecordName[],
  known: KnownVulnerabilities,
  turn?: Turn,
): Promise<void> {
  const asked = new Map<string, RecordName>();
  for (const record of records) if (!known.has(recordKey(record))) asked.set(recordKey(record), record);
  if (asked.size === 0) return;
  const found = await learned(db).rememberAll([...asked.keys()], async (missing) => {
    return await readVulnerabilities(
      db,
      missing.flatMap((key) => asked.get(key) ?? []),
      turn,
    );
  });
  for (const [key, vulnerability] of found) known.set(key, vulnerability);
}

async function readVulnerabilities(
  db: Database,
  asked: readonly RecordName[],
  turn: Turn | undefined,
): Promise<Map<string, Vulnerability>> {
  const idsOf = await idsByRecord(db, asked, turn);
  const said = await saidBy(db, asked, turn);
  const about = new Map<string, Said[]>();
  const names = new Map<string, string>();
  // First by the ids of the records themselves, then by those that others give the same vulnerability.
  let wanted = new Set([...idsOf.values()].flatMap(({ own }) => own));
  for (let step = 0; step < STEPS; step += 1) {
    const records = await recordsAbout(db, [...wanted], turn);
    for (const id of wanted) about.set(id, []);
    for (const { key, record } of records) {
      about.get(key)?.push(record);
      if (record.id.toLowerCase() === key) names.set(key, record.id);
    }
    const others = records.map(({ record }) => record).filter(({ format }) => format === "osv");
    const unknown = others.filter((each) => !idsOf.has(recordKey(each)));
    for (const [key, ids] of await idsByRecord(db, unknown, turn)) idsOf.set(key, ids);
    const given = others.flatMap((each) => idsOf.get(recordKey(each))?.given ?? []);
    wanted = new Set(given.filter((id) => !about.has(id)));
  }
  const found = new Map<string, Vulnerability>();
  for (const record of asked) {
    const own = said.get(recordKey(record));
    found.set(recordKey(record), vulnerabilityOf(record, { idsOf, about, names, own }));
    await turn?.();
  }
  return found;
}

/** How many times further ids are looked for by those that were found. */
const STEPS = 2;

/** The ids that a record has, and those of them that it gives the vulnerability as one record among others. */
interface RecordIds {
  own: string[];
  given: string[];
}

interface Sayings {
  idsOf: ReadonlyMap<string, RecordIds>;
  /** By ids in lower case: those that were looked for, of all records that are read together. */
  about: ReadonlyMap<string, readonly Said[]>;
  names: ReadonlyMap<string, string>;
  own: Said | undefined;
}

function vulnerabilityOf(record: RecordName, sayings: Sayings): Vulnerability {
  const { idsOf, names, own } = sayings;
  const { ids, about } = idsAround(record, sayings);
  const isOfSeveral = cvesOf(ids.keys()).length > 1;
  const shown = [...ids].map(([id, isLookedFor]) => (isLookedFor ? names.get(id) : undefined) ?? displayed(id));
  shown.sort(byWeight);
  // Of a record that is gone only its id is left; that of a distribution ends with the vulnerability.
  const id = (isOfSeveral ? undefined : shown[0]) ?? record.id.split("/").at(-1) ?? "";
  const others = isOfSeveral ? [] : about.filter((each) => cvesOf(idsOf.get(recordKey(each))?.given ?? []).length <= 1);
  const rated = [...(own === undefined ? [] : [own]), ...others.filter(({ format }) => format === "osv")];
  const scored = rated.filter(({ score }) => score !== null).sort((a, b) => (b.score ?? 0) - (a.score ?? 0))[0];
  const epss = about.filter(({ format }) => format === "epss").map(({ body }) => JSON.parse(body) as EpssBody);
  return {
    id,
    aliases: shown.filter((each) => each !== id),
    severity: scored?.severity ?? worst(own === undefined ? [] : [own]) ?? worst(rated) ?? "UNKNOWN",
    ...(typeof scored?.score === "number" && { score: scored.score / 10 }),
    isExploited: about.some(({ format }) => format === "kev"),
    ...(epss.length > 0 && { epss: epss.reduce((a, b) => (b.epss > a.epss ? b : a)) }),
  };
}

/**
 * The ids of the vulnerability of a record, with whether records about them were looked for, and those records. As many
 * steps away as are looked at for a record alone: what else was read for others does not count.
 */
function idsAround(record: RecordName, { idsOf, about }: Sayings): { ids: Map<string, boolean>; about: Said[] } {
  const ids = new Map((idsOf.get(recordKey(record))?.own ?? []).map((id) => [id, true]));
  const isOfSeveral = cvesOf(ids.keys()).length > 1;
  const records = [...ids.keys()].flatMap((id) => about.get(id) ?? []);
  let last: readonly Said[] = isOfSeveral ? [] : records;
  for (let step = 1; step <= STEPS && last.length > 0; step += 1) {
    const isLookedFor = step < STEPS;
    const added: string[] = [];
    for (const other of last) {
      const more = idsOf.get(recordKey(other))?.given ?? [];
      if (cvesOf(new Set([...ids.keys(), ...more])).length > 1) continue;
      for (const id of more.filter((each) => !ids.has(each))) {
        ids.set(id, isLookedFor);
        added.push(id);
      }
    }
    last = isLookedFor ? added.flatMap((id) => about.get(id) ?? []) : [];
    records.push(...last);
  }
  return { ids, about: records };
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

/** The kinds of keys that name the vulnerability of a record. What it gives as `upstream` is its own word alone. */
const OWN = "'alias', 'upstream', 'former'";

/** The ids of the vulnerability that records have, in lower case. */
async function idsByRecord(
  db: Database,
  records: readonly RecordName[],
  turn: Turn | undefined,
): Promise<Map<string, RecordIds>> {
  const found = new Map<string, RecordIds>(records.map((record) => [recordKey(record), { own: [], given: [] }]));
  for (const [feed, some] of Map.groupBy(records, (record) => record.feed))
    for (let at = 0; at < some.length; at += ROWS) {
      const ids = some.slice(at, at + ROWS).map(({ id }) => id);
      // Records of distributions have ids of their own, made of the package and the vulnerability.
      const rows = await select<{ kind: string; key: string; record: string }>(
        db,
        `select k.kind, k.key, k.record from feed_keys as k left join feeds as f on f.name = k.feed
         where k.feed = ? and k.record in (${ids.map(() => "?").join(", ")}) and (k.kind in (${OWN}) or (k.kind = 'id' and f.format in (${GENERAL})))`,
        [feed, ...ids],
      );
      for (const { kind, key, record: id } of rows) {
        const known = found.get(recordKey({ feed, id }));
        known?.own.push(key);
        if (kind !== "upstream") known?.given.push(key);
      }
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
