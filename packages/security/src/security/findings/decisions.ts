import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { AdvisoryEventSchema, EventTypeFilter } from "@moorage/api/messages";
import { pathOf } from "@moorage/kernel/core/image-path";
import { ancestorsOf } from "@moorage/kernel/lib/uid";
import { type Database, type Row, select } from "@moorage/kernel/store";
import {
  isAboutImage,
  isAboutPackage,
  mayBeImage,
  type NamedImage,
  packageOf,
  type Subject,
} from "../advisories/subject.ts";
import { type Statement, statementOf } from "../exports/statements.ts";
import type { ImageAsOf } from "../images/image-packages.ts";
import { marks } from "../marks.ts";
import { isAtLeast, isSameVersion } from "../matching/versions.ts";

/** What an advisory says of a vulnerability by an approved event. Times are milliseconds since 1970. */
export interface AdvisoryDecision extends Statement {
  /** The advisory's uid, and its name for people. */
  advisory: string;
  advisoryId: string;
  type: EventTypeFilter;
  /** When the event was made. */
  timeMs: number;
  /** Since when it holds. */
  fromMs: number;
  /** The ids of the vulnerability, in lower case. */
  ids: string[];
  about: Subject;
}

/** Why a finding is closed, by the type of the event that closes it. */
export const CLOSE_REASONS: Partial<Record<EventTypeFilter, string>> = {
  [EventTypeFilter.FIXED]: "ADVISORY_FIXED",
  [EventTypeFilter.PATCHED]: "ADVISORY_PATCHED",
  [EventTypeFilter.FALSE_POSITIVE_DETERMINATION]: "ADVISORY_FALSE_POSITIVE",
};

/** A package of an image, and where it lies. */
export interface DecidedPackage {
  package: Omit<Row<"packages">, "matched">;
  places: readonly { path: string }[];
}

/** The decisions that may hold for an image, and what has to be known of it. */
export interface ImageDecisions extends NamedImage {
  /** Those about the image itself first, which say more than those about a package anywhere; then the latest event. */
  list: readonly AdvisoryDecision[];
}

type DecisionRow = Row<"advisory_decisions">;

const ROWS = 300;

/**
 * What the advisories of the groups at and above the image's repo say of vulnerabilities with these ids. Found by the
 * ids: what advisories say of other vulnerabilities is not read.
 */
export async function decisionsAbout(
  db: Database,
  { repo, digest, atMs }: ImageAsOf,
  ids: Iterable<string>,
): Promise<ImageDecisions> {
  const groups = ancestorsOf(repo);
  const [any] = await select<{ one: number }>(
    db,
    `select 1 as one from advisory_decision_ids where parent in (${marks(groups)}) limit 1`,
    groups,
  );
  const wanted = any === undefined ? [] : [...new Set([...ids].map((id) => id.toLowerCase()))];
  const found = new Map<string, AdvisoryDecision>();
  const time =
    atMs === undefined ? "d.until_time is null" : "d.from_time <= ? and (d.until_time is null or d.until_time > ?)";
  for (let at = 0; at < wanted.length; at += ROWS) {
    const some = wanted.slice(at, at + ROWS);
    const rows = await select<DecisionRow & { alias: string }>(
      db,
      `select i.alias, d.* from advisory_decision_ids as i
       join advisory_decisions as d on d.advisory = i.advisory and d.from_time = i.from_time
       where i.parent in (${marks(groups)}) and i.alias in (${marks(some)}) and ${time}`,
      [...groups, ...some, ...(atMs === undefined ? [] : [atMs, atMs])],
    );
    for (const { alias, ...row } of rows) {
      const known = found.get(row.advisory);
      if (known === undefined) found.set(row.advisory, decisionOf(row, alias));
      else known.ids.push(alias);
    }
  }
  const list = [...found.values()];
  const isAboutImages = list.some(({ about }) => mayBeImage(about.artifact_type));
  const isOfArchitecture = list.some(({ about }) => about.artifact_architecture !== "");
  const path = isAboutImages ? await pathOf(db, repo) : "";
  const rank = ({ about }: AdvisoryDecision): number => Number(isAboutImage(about, path));
  return {
    list: list.sort((a, b) => rank(b) - rank(a) || b.timeMs - a.timeMs || (a.advisory < b.advisory ? -1 : 1)),
    path,
    architecture: isOfArchitecture ? await architectureOf(db, repo, digest) : "",
  };
}

/** Those of the decisions that are about the vulnerability in the package, in the same order. */
export function decisionsOn(
  { list, path, architecture }: ImageDecisions,
  held: DecidedPackage,
  ids: readonly string[],
): AdvisoryDecision[] {
  const wanted = new Set(ids.map((id) => id.toLowerCase()));
  const paths = held.places.map((place) => place.path);
  return list.filter(
    ({ ids: own, about }) =>
      own.some((id) => wanted.has(id)) && isAboutPackage(about, { path, architecture }, held.package, paths),
  );
}

/**
 * Whether the decision closes the finding or leaves it open. Undefined when it says nothing of this version, or has not
 * come to an end.
 */
export function isClosedBy(
  { status, type, versions, about }: AdvisoryDecision,
  { package: held }: DecidedPackage,
): boolean | undefined {
  if (status === "under_investigation") return undefined;
  if (status !== "fixed") return status === "not_affected";
  const name = packageOf(about);
  // An image has no version that could be compared.
  if (name === undefined) return undefined;
  const isHeld = type === EventTypeFilter.PATCHED ? isSameVersion : isAtLeast;
  return versions.some((version) => isHeld(held, name, version)) ? true : undefined;
}

async function architectureOf(db: Database, repo: string, digest: string): Promise<string> {
  const row = await db
    .selectFrom("manifests")
    .select("architecture")
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .executeTakeFirst();
  return row?.architecture ?? "";
}

/** What the advisory of the row says, of the vulnerability with this alias. */
export function decisionOf(row: Row<"advisory_decisions">, alias: string): AdvisoryDecision {
  const { advisory, advisory_id: advisoryId, type, event_time: timeMs, from_time: fromMs, content, ...rest } = row;
  // Types that only later versions know are left out.
  const event = fromJson(AdvisoryEventSchema, JSON.parse(content) as JsonValue, { ignoreUnknownFields: true });
  return {
    ...statementOf({ event }),
    advisory,
    advisoryId,
    type: type as EventTypeFilter,
    timeMs,
    fromMs,
    ids: [alias],
    about: rest,
  };
}
