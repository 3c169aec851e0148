import { sortInTurns, type Turn } from "@moorage/kernel/lib/turns";
import { compareVersions } from "@moorage/kernel/lib/versions";
import { type Bindable, type Database, type Row, select } from "@moorage/kernel/store";
import type { FeedStatement } from "../trusted/read.ts";
import type { FixState } from "../matching/record-affects.ts";
import {
  type AttachedStatement,
  attachedStatements,
  findStatements,
  type FindStatements,
  type ReadingLimits,
} from "../attached/statements.ts";
import type { Contradiction } from "../attached/contradictions.ts";
import type { VexRemedy } from "../vex/remedies.ts";
import { placesOf } from "../images/weights.ts";
import { statedPackage } from "../vex/applies.ts";
import { namedVersions } from "./contradictions.ts";
import { countedSources, type ImageAsOf } from "../images/image-packages.ts";
import {
  type AdvisoryDecision,
  CLOSE_REASONS,
  decisionsAbout,
  decisionsOn,
  type ImageDecisions,
  isClosedBy,
} from "./decisions.ts";
import { type AboutPackage, feedStatements, type LatestOfFeeds } from "./feed-statements.ts";
import { marks } from "../marks.ts";
import { recordKey } from "./records.ts";
import { orderOf } from "../matching/versions.ts";
import { type KnownVulnerabilities, learnVulnerabilities, type Vulnerability } from "./vulnerabilities.ts";

/** A record that affects a package. Times are milliseconds since 1970. */
interface AffectingRecord {
  feed: string;
  id: string;
  /** The change number of the state that it was in; see feed_changes. */
  change: number;
  fixed: string[];
  lastAffected: string[];
  openedMs: number;
}

/** One vulnerability of one package of an image. Times are milliseconds since 1970. */
export interface ImageFinding {
  vulnerability: Vulnerability;
  package: Omit<Row<"packages">, "matched">;
  /** Where the package lies: the layer's digest and the path. */
  places: { layer: string; path: string }[];
  /** Who says that the image holds it: see PackageSource. The one that counts most first. */
  sources: string[];
  state: FixState;
  /** The versions that fix it, by any of the records, in their order. */
  fixed: string[];
  /** In the order of feeds and ids. */
  records: AffectingRecord[];
  /** Since when it was open without a break. */
  sinceMs: number;
  /** Null when it is open. */
  closedMs: number | null;
  /** Why it was closed last; empty when it is open. */
  closeReason: string;
  /** The statement that closed it: attached to the image, or of a feed. */
  statement?: AttachedStatement | FeedStatement;
  /** What an advisory says of it, which closed it or leaves it open. */
  decision?: AdvisoryDecision;
  /** What was attached on the word of somebody who may not write advisories: it decides nothing. The latest first. */
  claims: AttachedStatement[];
  /** What can be done about it, by the statement that counts: attached to the image, or of a feed. */
  remedies?: { statement: AttachedStatement | FeedStatement; all: readonly VexRemedy[] };
  /** Sources that name the package in other versions, and not in this one. */
  contradictions: Contradiction[];
}

export interface FindingsAsked extends ImageAsOf {
  /** Open ones, or those that were open before and are not any more. */
  state: "open" | "closed";
  /** Only these packages, by their ids. */
  packages?: readonly string[];
  /** The sources that count, where they were read in this transaction; see countedSources. */
  sources?: readonly string[];
}

const ROWS = 400;

/** In how many places of packages findings are looked for in one step. */
const PLACES = 2_000;

/** The most claims that are answered with a finding. */
const MAX_CLAIMS = 5;

/**
 * The findings of an image, one for each package and vulnerability, in the order of purls and then of ids: in the
 * packages that any of the sources that count says it holds. What several say, with the same purl, is one. Undefined
 * when nothing is known of what the image holds: it waits to be read, could not be, or is none. `known`: what the call
 * has read of vulnerabilities, for images that have packages in common. `limits`: for a thread that others wait for.
 */
export async function findingsOfImage(
  db: Database,
  asked: FindingsAsked,
  known: KnownVulnerabilities = new Map(),
  limits: ReadingLimits = {},
): Promise<ImageFinding[] | undefined> {
  const { turn } = limits;
  const sources = asked.sources ?? (await countedSources(db, asked));
  if (sources.length === 0) return undefined;
  const rows = await findingRows(db, asked, sources, turn);
  if (rows.length === 0) return [];
  const names = rows.map(({ feed, record: id }) => ({ feed, id }));
  await learnVulnerabilities(db, names, known, turn);
  const held = [...new Set(rows.map((row) => row.package))];
  const packages = await heldPackages(db, { digest: asked.digest, sources, ids: held }, turn);
  const groups = Map.groupBy(rows, (row) => {
    const vulnerability = known.get(recordKey({ feed: row.feed, id: row.record }));
    return `${packages.get(row.package)?.package.purl ?? row.package} ${vulnerability?.id ?? row.record}`;
  });
  const isOpen = isOpenAt(asked.atMs);
  await turn?.();
  const ids = names.flatMap((name) => {
    const vulnerability = known.get(recordKey(name));
    return vulnerability === undefined ? [] : decidedIds(vulnerability);
  });
  const wanted = { ...asked, ids: new Set(ids.map((id) => id.toLowerCase())) };
  const said: ImageSayings = {
    decisions: await decisionsAbout(db, asked, ids),
    ...(await partedByWord(await attachedStatements(db, wanted, limits), turn)),
    latestOfFeeds: await feedStatements(db, asked, sources, aboutPackages(groups, packages, known), limits),
  };
  const findingOf = (group: readonly FindingRow[]): ImageFinding[] => {
    const open = group.filter(isOpen);
    const counted = open.length > 0 ? open : asked.state === "open" ? [] : lastOf(group);
    const [first] = counted;
    const held = first === undefined ? undefined : heldAs(counted, packages, sources);
    const vulnerability =
      first === undefined ? undefined : known.get(recordKey({ feed: first.feed, id: first.record }));
    if (held === undefined || vulnerability === undefined) return [];
    const summary = summaryOf(counted, held.package, open.length > 0);
    const end = open.length === 0 ? {} : endOf(said, held, vulnerability);
    if (open.length > 0 && (end.reason === undefined) !== (asked.state === "open")) return [];
    const { reason, fromMs = 0, ...by } = end;
    const closed = reason !== undefined && { closedMs: Math.max(fromMs, summary.sinceMs), closeReason: reason };
    const claims = said.claims({ ...statedPackage(held.package), ids: decidedIds(vulnerability) }, MAX_CLAIMS);
    return [{ ...held, vulnerability, ...summary, ...closed, ...by, claims, contradictions: [] }];
  };
  const found: ImageFinding[] = [];
  for (const group of groups.values()) {
    found.push(...findingOf(group));
    await turn?.();
  }
  const own = found.map((each) => each.package.name);
  const named = await namedVersions(db, { digest: asked.digest, sources }, own, turn);
  for (const each of found) each.contradictions = named.contradictionsOf(each.package.purl, each.sources);
  return await sortInTurns(found, inOrder, turn);
}

/** What is said of the vulnerabilities of an image beside the records. */
interface ImageSayings {
  decisions: ImageDecisions;
  statements: FindStatements;
  /** Those that decide nothing. */
  claims: FindStatements;
  latestOfFeeds: LatestOfFeeds;
}

async function partedByWord(
  all: readonly AttachedStatement[],
  turn: Turn | undefined,
): Promise<Pick<ImageSayings, "statements" | "claims">> {
  const parts = Object.groupBy(all, ({ isClaim }) => (isClaim ? "claims" : "statements"));
  return {
    statements: await findStatements(parts.statements ?? [], turn),
    claims: await findStatements(parts.claims ?? [], turn),
  };
}

/** The package of these rows, as the source that counts most has it, with the places of all. */
function heldAs(
  rows: readonly FindingRow[],
  packages: ReadonlyMap<string, Held>,
  sources: readonly string[],
): Held | undefined {
  const rank = ({ sources: own }: Held): number => Math.min(...own.map((source) => sources.indexOf(source)));
  const all = [...new Set(rows.map((row) => row.package))].flatMap((id) => packages.get(id) ?? []);
  const [first, ...more] = all.sort((a, b) => rank(a) - rank(b) || (a.package.id < b.package.id ? -1 : 1));
  if (first === undefined || more.length === 0) return first;
  const places = new Map(all.flatMap((each) => each.places.map((place) => [`${place.layer} ${place.path}`, place])));
  const named = new Set(all.flatMap((each) => each.sources));
  return {
    package: first.package,
    places: [...places.values()],
    sources: sources.filter((source) => named.has(source)),
  };
}

/** What statements are wanted about: the vulnerability of each group of rows, in its package. */
function aboutPackages(
  groups: ReadonlyMap<string, readonly FindingRow[]>,
  packages: ReadonlyMap<string, Held>,
  known: KnownVulnerabilities,
): AboutPackage[] {
  return [...groups.values()].flatMap(([row]) => {
    const held = row && packages.get(row.package);
    const vulnerability = row && known.get(recordKey({ feed: row.feed, id: row.record }));
    return held && vulnerability ? [{ ...statedPackage(held.package), ids: decidedIds(vulnerability) }] : [];
  });
}

interface End extends Pick<ImageFinding, "statement" | "decision" | "remedies"> {
  /** Undefined: it stays open. */
  reason?: string;
  fromMs?: number;
}

/**
 * What becomes of a finding that the records have open. What was reviewed counts more than what is attached, and that
 * more than what feeds say: a statement closes what no advisory says is affected. Of several advisories, and of several
 * statements, the latest counts.
 */
function endOf({ decisions, statements, latestOfFeeds }: ImageSayings, held: Held, vulnerability: Vulnerability): End {
  const ids = decidedIds(vulnerability);
  const about = decisions.list.length === 0 ? [] : decisionsOn(decisions, held, ids);
  const settling = about.find((each) => isClosedBy(each, held) !== undefined);
  const decision = settling ?? about[0];
  const of = { ...statedPackage(held.package), ids };
  const latest = statements(of, 1)[0] ?? latestOfFeeds(of);
  const remedies = latest && latest.remedies.length > 0 && { statement: latest, all: latest.remedies };
  const end = endBy({ settling, decision, latest }, held);
  return remedies ? { ...end, remedies } : end;
}

interface Sayings {
  settling: AdvisoryDecision | undefined;
  decision: AdvisoryDecision | undefined;
  latest: AttachedStatement | FeedStatement | undefined;
}

function endBy({ settling, decision, latest }: Sayings, held: Held): End {
  if (settling !== undefined)
    return isClosedBy(settling, held) === true
      ? { reason: CLOSE_REASONS[settling.type] ?? "", fromMs: settling.fromMs, decision: settling }
      : { decision: settling };
  if (latest?.status === "not_affected" || latest?.status === "fixed")
    return { reason: `VEX_${latest.status.toUpperCase()}`, fromMs: latest.fromMs, statement: latest };
  return decision === undefined ? {} : { decision };
}

/** The ids by which all of the vulnerability is meant: what is said of one CVE of a record says nothing of others. */
export function decidedIds({ id, aliases }: Vulnerability): string[] {
  const ids = [id, ...aliases];
  return ids.filter((each) => each.startsWith("CVE-")).length > 1 ? [id] : ids;
}

/** Where a finding stands among those of its image. */
export type FindingPosition = readonly [purl: string, id: string, vulnerability: string];

export function positionOf(finding: ImageFinding): FindingPosition {
  return [finding.package.purl, finding.package.id, finding.vulnerability.id];
}

export function comparePositions(a: FindingPosition, b: FindingPosition): number {
  for (const [at, one] of a.entries()) {
    const other = b[at] ?? "";
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}

const inOrder = (a: ImageFinding, b: ImageFinding): number => comparePositions(positionOf(a), positionOf(b));

type FindingRow = Row<"package_findings">;

const DIGITS = 16;

/** The primary key, in its order. */
function keyOf({ package: id, feed, record, opened, change }: FindingRow): string {
  return [id, feed, record, ...[opened, change].map((each) => String(each).padStart(DIGITS, "0"))].join("\n");
}

const isOpenAt =
  (atMs: number | undefined) =>
  ({ closed }: FindingRow): boolean =>
    closed === null || (atMs !== undefined && closed > atMs);

/** The rows of a finding that was closed that held until then. */
function lastOf(group: readonly FindingRow[]): FindingRow[] {
  const last = Math.max(...group.map(({ closed }) => closed ?? 0));
  return group.filter(({ closed }) => closed === last);
}

function summaryOf(
  rows: readonly FindingRow[],
  held: ImageFinding["package"],
  isOpen: boolean,
): Omit<ImageFinding, "vulnerability" | "package" | "places" | "sources" | "claims" | "contradictions"> {
  const records = rows
    .map((row) => ({
      feed: row.feed,
      id: row.record,
      change: row.change,
      fixed: JSON.parse(row.fixed) as string[],
      lastAffected: JSON.parse(row.last_affected) as string[],
      openedMs: row.opened,
    }))
    .sort((a, b) => (recordKey(a) < recordKey(b) ? -1 : 1));
  const fixed = sortedVersions(held, [...new Set(records.flatMap((record) => record.fixed))]);
  return {
    records,
    fixed,
    state: fixed.length > 0 ? "FIXED" : rows.every(({ state }) => state === "WONT_FIX") ? "WONT_FIX" : "NOT_FIXED",
    sinceMs: Math.min(...rows.map(({ since }) => since)),
    closedMs: isOpen ? null : Math.max(...rows.map(({ closed }) => closed ?? 0)),
    closeReason: isOpen ? "" : (rows[0]?.reason_closed ?? ""),
  };
}

function sortedVersions(held: ImageFinding["package"], versions: string[]): string[] {
  const order = versions.length < 2 ? undefined : orderOf(held);
  return order === undefined ? versions : versions.sort((a, b) => compareVersions(order, a, b));
}

async function findingRows(
  db: Database,
  { digest, atMs, state, packages }: FindingsAsked,
  sources: readonly string[],
  turn: Turn | undefined,
): Promise<FindingRow[]> {
  const time =
    state === "closed"
      ? atMs === undefined
        ? ""
        : " and f.opened <= ?"
      : atMs === undefined
        ? " and f.closed is null"
        : " and f.opened <= ? and (f.closed is null or f.closed > ?)";
  const times = Array.from(time.matchAll(/\?/g), () => atMs ?? 0);
  const ask = async (among: string, ids: readonly Bindable[]): Promise<FindingRow[]> =>
    await select<FindingRow>(
      db,
      `select f.* from package_findings as f where f.package in (select i.package from image_packages as i where i.digest = ? and i.source in (${marks(sources)})${among})${time}`,
      [digest, ...sources, ...ids, ...times],
    );
  const found: FindingRow[] = [];
  if (packages === undefined && turn === undefined) return await ask("", []);
  if (packages === undefined) {
    const most = await placesOf(db, digest, sources);
    for (let from = 0; from < most; from += PLACES) {
      for (const row of await ask(" and i.n >= ? and i.n < ?", [from, from + PLACES])) found.push(row);
      await turn?.();
    }
    // A package may lie in several places. The order is that in which they are stored.
    const rows = new Map(found.map((row) => [keyOf(row), row]));
    await turn?.();
    return (await sortInTurns([...rows], ([a], [b]) => (a < b ? -1 : 1), turn)).map(([, row]) => row);
  }
  for (let at = 0; at < packages.length; at += ROWS) {
    const some = packages.slice(at, at + ROWS);
    found.push(...(await ask(` and i.package in (${marks(some)})`, some)));
  }
  return found;
}

type Held = Pick<ImageFinding, "package" | "places" | "sources">;

async function heldPackages(
  db: Database,
  { digest, sources, ids }: { digest: string; sources: readonly string[]; ids: readonly string[] },
  turn: Turn | undefined,
): Promise<Map<string, Held>> {
  const found = new Map<string, Held>();
  for (let at = 0; at < ids.length; at += ROWS) {
    const some = ids.slice(at, at + ROWS);
    const rows = await select<Row<"packages"> & { layer: string; path: string; source: string }>(
      db,
      `select p.id, p.ecosystem, p.source_name, p.source_version, p.purl, p.name, p.version, p.licence, i.layer, i.path, i.source
       from image_packages as i join packages as p on p.id = i.package
       where i.digest = ? and i.source in (${marks(sources)}) and i.package in (${marks(some)}) order by i.n`,
      [digest, ...sources, ...some],
    );
    for (const { layer, path, source, ...row } of rows) {
      const held = found.get(row.id) ?? { package: row, places: [], sources: [] };
      if (!held.places.some((place) => place.layer === layer && place.path === path)) held.places.push({ layer, path });
      if (!held.sources.includes(source)) held.sources.push(source);
      found.set(row.id, held);
    }
    await turn?.();
  }
  for (const held of found.values()) held.sources.sort((a, b) => sources.indexOf(a) - sources.indexOf(b));
  return found;
}
