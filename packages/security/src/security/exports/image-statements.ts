import { sql } from "kysely";
import { type AdvisoryEvent, ReviewState } from "@moorage/api/messages";
import { milliseconds } from "@moorage/kernel/lib/timestamps";
import { ancestorsOf } from "@moorage/kernel/lib/uid";
import { type Database, type Row, select } from "@moorage/kernel/store";
import { eventsByAdvisory } from "../advisories/events.ts";
import { attachedStatements, type ReadingLimits } from "../attached/statements.ts";
import { isAboutImage } from "../advisories/subject.ts";
import { advised } from "./advisory-statements.ts";
import { idsOfAdvisory } from "./decisions.ts";
import type { HeldPackages } from "./image-packages.ts";
import { displayedId, type Said, type SaidOf, statementOf, targeted } from "./statement.ts";
import { trustedStatements } from "./trusted-statements.ts";

/** What holds for an image: each vulnerability of a package, or of the whole image, once. */
export interface ImageStatement extends Omit<Said, "packages"> {
  /** The purls of packages, or the whole image. */
  packages: "all" | string[];
}

/** The most advisories that are looked at for one image. */
const MAX_ADVISORIES = 5_000;
const NAMES_AT_ONCE = 200;
const ADVISORIES_AT_ONCE = 500;

/**
 * What holds for an image. The most weight have decisions of the groups above the repo, those about the image before
 * those about a package anywhere; then what is attached to the image, feeds that may decide about it, and decisions
 * that say no more than that it is looked at, or fixed in another version; of each the latest. What has less weight
 * does not count for a package and a vulnerability of which more is said.
 */
export async function imageStatements(
  tx: Database,
  image: SaidOf,
  limits: ReadingLimits = {},
): Promise<ImageStatement[]> {
  const decisions = await decided(tx, image);
  const latestFirst = (said: readonly Said[]): Said[] => said.toSorted((a, b) => b.timeMs - a.timeMs);
  const ofWeight = (weight: number): Said[] => latestFirst(decisions.filter((each) => each.weight === weight));
  return counting(
    [
      ...ofWeight(3),
      ...ofWeight(2),
      ...latestFirst(await attachedTo(tx, image, limits)),
      ...latestFirst(await trustedStatements(tx, image)),
      ...ofWeight(1),
      ...ofWeight(0),
    ],
    image.packages,
  );
}

/** Of what is said, in the order of its weight, what nothing before speaks of. */
function counting(said: readonly Said[], packages: HeldPackages): ImageStatement[] {
  const ofAll = new Set<string>();
  const ofSome = new Map<string, Set<string>>();
  const found: ImageStatement[] = [];
  for (const { packages: about, ids: named, statement, timeMs, supplier, advisory } of said) {
    const each = { ids: named, statement, timeMs, supplier, ...(advisory !== undefined && { advisory }) };
    const ids = each.ids.map((id) => id.toLowerCase());
    if (ids.some((id) => ofAll.has(id))) continue;
    if (about === "all" && !ids.some((id) => ofSome.has(id))) {
      for (const id of ids) ofAll.add(id);
      found.push({ ...each, packages: "all" });
      continue;
    }
    const left = (about === "all" ? packages.all : about).filter(
      ({ purl }) => !ids.some((id) => ofSome.get(id)?.has(purl)),
    );
    if (left.length === 0) continue;
    const purls = left.map(({ purl }) => purl);
    for (const id of ids) {
      const known = ofSome.get(id);
      if (known === undefined) ofSome.set(id, new Set(purls));
      else for (const purl of purls) known.add(purl);
    }
    if (about === "all") for (const id of ids) ofAll.add(id);
    found.push({ ...each, packages: purls });
  }
  return found;
}

async function attachedTo(tx: Database, { repo, digest, packages }: SaidOf, limits: ReadingLimits): Promise<Said[]> {
  // What was attached by somebody who may not write advisories is not said again in the server's name.
  const statements = (await attachedStatements(tx, { repo, digest }, limits)).filter(({ isClaim }) => !isClaim);
  return statements.map(({ ids, status, justification, impact, target, author, timeMs }) => ({
    ids: ids.map(displayedId),
    statement: statementOf({ status, justification, impact }),
    packages: targeted(target, packages),
    timeMs,
    supplier: author,
  }));
}

/** `weight`: 2 and 3 for what is settled, 0 and 1 for what is not; the higher one for what is about the image. */
async function decided(tx: Database, image: SaidOf): Promise<(Said & { weight: number })[]> {
  const found = await advisoriesAbout(tx, image);
  const events = new Map<string, AdvisoryEvent[]>();
  for (let at = 0; at < found.length; at += ADVISORIES_AT_ONCE) {
    const uids = found.slice(at, at + ADVISORIES_AT_ONCE).map(({ uid }) => uid);
    for (const [uid, each] of await eventsByAdvisory(tx, uids)) events.set(uid, each);
  }
  return found.flatMap((advisory) => {
    const event = events.get(advisory.uid)?.findLast(({ reviewState }) => reviewState === ReviewState.APPROVED);
    if (event?.createTime === undefined) return [];
    if (!image.mayReadNotes(advisory.uid) && event.type.value !== undefined && "note" in event.type.value)
      event.type.value.note = "";
    const said = {
      ids: [...idsOfAdvisory(advisory), advisory.advisory_id],
      timeMs: milliseconds(event.createTime),
      supplier: "",
      advisory: advisory.uid,
    };
    const isOwn = Number(isAboutImage(advisory, image.path));
    return advised({ advisory, event }, image, image.packages).map(({ isSettled, ...each }) => ({
      ...said,
      ...each,
      weight: Number(isSettled) * 2 + isOwn,
    }));
  });
}

/** The advisories with a decision, of the groups above the repo, that name the image or a package in it. */
async function advisoriesAbout(tx: Database, { repo, path, packages }: SaidOf): Promise<Row<"advisories">[]> {
  const groups = sql.join(ancestorsOf(repo));
  const names = [...new Set([path, ...packages.all.flatMap(({ name, source_name: source }) => [name, source])])];
  const found = new Map<string, Row<"advisories">>();
  for (let at = 0; at < names.length; at += NAMES_AT_ONCE) {
    const { rows } = await sql<Row<"advisories">>`select * from advisories
      where artifact_name in (${sql.join(names.slice(at, at + NAMES_AT_ONCE))}) and parent in (${groups})
      and delete_time is null and latest_type <> 0 order by uid limit ${MAX_ADVISORIES + 1}`.execute(tx);
    for (const row of rows) found.set(row.uid, row);
  }
  return [...found.values()].sort((a, b) => (a.uid < b.uid ? -1 : 1)).slice(0, MAX_ADVISORIES);
}

/** Whether anybody says anything that may be about the image; it costs little, unlike reading what it holds. */
export async function isAnythingSaid(tx: Database, repo: string, digest: string): Promise<boolean> {
  const groups = ancestorsOf(repo);
  const rows = await select(
    tx,
    `select 1 where exists (select 1 from advisories where parent in (${groups.map(() => "?").join(", ")}) and delete_time is null and latest_type <> 0)
       or exists (select 1 from feeds where products <> '[]')
       or exists (select 1 from attachments as a join attached_documents as d on d.subject = a.subject and d.manifest = a.manifest and d.statements > 0
         where a.repo = ? and a.until_time is null and (a.subject = ? or a.subject in (select m.digest from manifest_references as m where m.repo = ? and m.target = ?)))`,
    [...groups, repo, digest, repo, digest],
  );
  return rows.length > 0;
}

/**
 * When something was last said, or taken back, of which statements about the images of the repo are made; in
 * milliseconds since 1970, 0 when nothing ever was. It never goes back.
 */
export async function lastSaidMs(tx: Database, repo: string, digests: readonly string[]): Promise<number> {
  const marks = digests.map(() => "?").join(", ");
  const groups = ancestorsOf(repo);
  const rows = await select<{ ms: number | string | null }>(
    tx,
    `select max(update_time) as ms from advisories where parent in (${groups.map(() => "?").join(", ")})
     union all select max(coalesce(a.until_time, r.finish_time, a.from_time)) as ms from attachments as a
       left join attached_readings as r on r.subject = a.subject and r.manifest = a.manifest where a.repo = ? and a.subject in (${marks})
     union all select max(success_time) as ms from feeds where products <> '[]'
     union all select max(value) as ms from matching where name = 'statements'`,
    [...groups, repo, ...digests],
  );
  return Math.max(0, ...rows.map(({ ms }) => Number(ms ?? 0)));
}
