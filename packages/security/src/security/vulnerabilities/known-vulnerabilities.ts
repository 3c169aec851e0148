import type { Database } from "@moorage/kernel/store";
import { createTurns } from "@moorage/kernel/lib/turns";
import { isObject } from "@moorage/kernel/lib/json";
import { isWebUrl } from "@moorage/kernel/lib/web-url";
import type { FeedFormat } from "../records/formats.ts";
import { SEVERITIES, type Severity } from "../records/severities.ts";
import type { Joined, JoinedFeed } from "./join.ts";
import { bodiesOf, headsOf, type RecordHead, refKey } from "./records.ts";

/** What is known about one vulnerability, joined from all records about it. */
export interface KnownVulnerability {
  /** As its sources write it. */
  id: string;
  /** Its other ids, as their sources write them. */
  aliases: string[];
  summary: string;
  /** Markdown. */
  details: string;
  /** `type`: as OSV has it, such as WEB or ADVISORY. */
  references: { type: string; url: string }[];
  /** As OSV has them: a type such as CVSS_V3, and a vector. */
  vectors: { type: string; score: string }[];
  /** The worst of the records that hold. */
  severity: Severity;
  /** CVSS, 0 to 10, of the record that the severity is from. */
  score: number | undefined;
  exploited: { dateAdded: string; dueDate: string; requiredAction: string; ransomware: string } | undefined;
  epss: { probability: number; percentile: number } | undefined;
  /** Since when no record holds any more, in milliseconds since 1970. */
  withdrawnMs: number | undefined;
  sources: (RecordHead & { licence: string })[];
}

// Of so many records the content is read, and so much of each list is answered.
const MAX_READ = 20;
const MAX_LISTED = 200;
const MAX_SOURCES = 100;
const READ: ReadonlySet<FeedFormat> = new Set<FeedFormat>(["osv", "debian-tracker", "kev", "epss"]);

/** Vulnerabilities whose contents are not read yet. */
export interface Unread {
  joined: Joined;
  heads: RecordHead[];
  /** Whose content is read. */
  read: RecordHead[];
  /** The bytes of that. */
  size: number;
}

/** What there is to read about each vulnerability, for a caller that bounds how much it reads in one step. */
export async function unreadOf(
  tx: Database,
  all: readonly Joined[],
  feeds: ReadonlyMap<string, JoinedFeed>,
): Promise<Unread[]> {
  const heads = await headsOf(
    tx,
    all.flatMap(({ records }) => records),
  );
  return all.map((joined) => {
    const own = joined.records.flatMap((ref) => heads.get(refKey(ref)) ?? []).sort(byWorth(joined.key, feeds));
    const read = own.filter(({ feed }) => READ.has(feeds.get(feed)?.format ?? "endoflife")).slice(0, MAX_READ);
    return { joined, heads: own, read, size: read.reduce((sum, { size }) => sum + size, 0) };
  });
}

/** What is known about vulnerabilities, in their order. */
export async function knownVulnerabilities(
  tx: Database,
  all: readonly Unread[],
  feeds: ReadonlyMap<string, JoinedFeed>,
): Promise<KnownVulnerability[]> {
  const bodies = await bodiesOf(
    tx,
    all.flatMap(({ read }) => read),
  );
  const turn = createTurns();
  const found: KnownVulnerability[] = [];
  for (const unread of all) {
    found.push(knownOf(unread, bodies, feeds));
    await turn();
  }
  return found;
}

function knownOf(
  { joined, heads, read }: Unread,
  bodies: ReadonlyMap<string, Record<string, unknown>>,
  feeds: ReadonlyMap<string, JoinedFeed>,
): KnownVulnerability {
  const contents = read.flatMap((head) => {
    const body = bodies.get(refKey(head));
    return body === undefined ? [] : [{ head, body, format: feeds.get(head.feed)?.format }];
  });
  const ofFormat = (format: FeedFormat): Record<string, unknown>[] =>
    contents.filter((each) => each.format === format).map(({ body }) => body);
  const [kev] = ofFormat("kev");
  const [epss] = ofFormat("epss");
  const osv = ofFormat("osv");
  const texts = [...osv, ...ofFormat("debian-tracker")];
  const spellings = spellingsOf(contents.flatMap(({ head, body, format }) => idsIn(head, body, format)));
  const holding = heads.filter(({ withdrawn }) => withdrawn === null);
  return {
    id: spellingOf(joined.key, spellings),
    aliases: joined.names.filter((name) => name !== joined.key).map((name) => spellingOf(name, spellings)),
    summary: firstText(...texts.map(({ summary }) => summary), kev?.["vulnerabilityName"]),
    details: firstText(...texts.map(({ details, description }) => details ?? description), kev?.["shortDescription"]),
    references: unique(osv.flatMap(({ references }) => pairsIn(references, "type", "url")))
      .map(([type, url]) => ({ type, url }))
      .filter(({ url }) => isWebUrl(url)),
    vectors: unique(osv.flatMap((body) => vectorsIn(body))).map(([type, score]) => ({ type, score })),
    ...worstOf(holding),
    exploited: kev && {
      dateAdded: textOf(kev["dateAdded"]),
      dueDate: textOf(kev["dueDate"]),
      requiredAction: textOf(kev["requiredAction"]),
      ransomware: textOf(kev["knownRansomwareCampaignUse"]),
    },
    epss: epss && { probability: Number(epss["epss"]), percentile: Number(epss["percentile"]) },
    withdrawnMs:
      heads.length > 0 && holding.length === 0 ? Math.max(...heads.map((head) => head.withdrawn ?? 0)) : undefined,
    sources: heads.slice(0, MAX_SOURCES).map((head) => ({ ...head, licence: feeds.get(head.feed)?.licence ?? "" })),
  };
}

/** KEV and EPSS first, which are small; then what holds, what has this id itself, and what is newer. */
function byWorth(key: string, feeds: ReadonlyMap<string, JoinedFeed>): (a: RecordHead, b: RecordHead) => number {
  const worth = ({ feed, record, withdrawn }: RecordHead): number => {
    const format = feeds.get(feed)?.format;
    if (format === "kev" || format === "epss") return 0;
    return 1 + (withdrawn === null ? 0 : 4) + (format === "osv" ? 0 : 2) + (record.toLowerCase() === key ? 0 : 1);
  };
  return (a, b) => worth(a) - worth(b) || b.modified - a.modified || (refKey(a) < refKey(b) ? -1 : 1);
}

function worstOf(heads: readonly RecordHead[]): { severity: Severity; score: number | undefined } {
  const rank = ({ severity }: RecordHead): number => SEVERITIES.indexOf(severity);
  const [worst] = heads.toSorted((a, b) => rank(b) - rank(a) || (b.scoreTenths ?? -1) - (a.scoreTenths ?? -1));
  const tenths = worst?.scoreTenths ?? null;
  return { severity: worst?.severity ?? "UNKNOWN", score: tenths === null ? undefined : tenths / 10 };
}

function idsIn({ record }: RecordHead, body: Record<string, unknown>, format: FeedFormat | undefined): string[] {
  if (format === "debian-tracker") return [textOf(body["id"])];
  return [record, ...["aliases", "upstream"].flatMap((field) => listOf(body[field]).map(textOf))];
}

function spellingsOf(ids: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const id of ids) if (!found.has(id.toLowerCase())) found.set(id.toLowerCase(), id);
  return found;
}

/** An id that no content spells is one of a distribution's notes, which are CVE as a rule. */
function spellingOf(name: string, spellings: ReadonlyMap<string, string>): string {
  return spellings.get(name) ?? (name.startsWith("ghsa-") ? `GHSA${name.slice(4)}` : name.toUpperCase());
}

function vectorsIn(body: Record<string, unknown>): [string, string][] {
  const affected = listOf(body["affected"]).filter(isObject);
  return [body, ...affected].flatMap((each) => pairsIn(each["severity"], "type", "score"));
}

function pairsIn(list: unknown, first: string, second: string): [string, string][] {
  return listOf(list)
    .filter(isObject)
    .map((each): [string, string] => [textOf(each[first]), textOf(each[second])])
    .filter(([, value]) => value !== "");
}

function unique(pairs: readonly [string, string][]): [string, string][] {
  return [...new Map(pairs.map((pair) => [pair[1], pair])).values()].slice(0, MAX_LISTED);
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string => (typeof value === "string" ? value.toWellFormed() : "");
const firstText = (...texts: unknown[]): string => texts.map(textOf).find((text) => text !== "") ?? "";
