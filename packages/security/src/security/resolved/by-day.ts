import type { Severity } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { pathOf } from "@moorage/kernel/core/image-path";
import { invalidArgument } from "@moorage/kernel/errors";
import { createTurns } from "@moorage/kernel/lib/turns";
import { ancestorsOf } from "@moorage/kernel/lib/uid";
import { vulnerabilityKey } from "../records/record.ts";
import type { ImageName } from "../images/images.ts";
import type { KnownVulnerabilities } from "../findings/vulnerabilities.ts";
import { Component } from "./component.ts";
import { type Days, dayOf, type TagDays, tagDays } from "./days.ts";
import { type Decided, decidedIn } from "./decisions.ts";
import { feedFixes } from "./feed-fixes.ts";
import { Held, type HeldImage } from "./holdings.ts";

/** Tags of a repo. */
export interface TaggedImages {
  /** The uid of the repo. */
  repo: string;
  tags: readonly string[];
}

/** A vulnerability that was resolved, as an advisory or a record of a feed names it. */
export interface Resolved {
  ids: readonly string[];
  severities: readonly Severity[];
}

/** What was resolved on a day in UTC, which begins at `dayMs`, in milliseconds since 1970. */
export interface ResolvedDay {
  dayMs: number;
  resolved: Resolved[];
  /** The images that the tags pointed to, each once. */
  images: ImageName[];
}

/** The most that is answered, over all days. */
const MAX_RESOLVED = 20_000;

type Caller = Pick<Call, "tx" | "nowMs" | "requireCaller" | "weigh">;

/**
 * What was resolved on each of the days in the images that the tags pointed to at the end of the day, by what is known
 * now: docs/vulnerabilities.md, "What was resolved". Days are in their order; those on which it is not known of any of
 * the tags what its image held are left out, as are days to come. Whoever calls it has checked that the caller may see
 * the repos. Throws NOT_FOUND for a tag that never was, and INVALID_ARGUMENT on `image_refs` for more than can be
 * looked at.
 */
export async function resolvedByDay(
  call: Caller,
  images: readonly TaggedImages[],
  { firstMs, lastMs }: Days,
): Promise<ResolvedDay[]> {
  const days = { firstMs, lastMs: Math.min(lastMs, dayOf(call.nowMs)) };
  const held = new Held(call);
  const report = new Report();
  const timelines: Timeline[] = [];
  for (const { repo, tags } of images)
    for (const tag of new Set(tags))
      timelines.push(await timelineOf(held, await tagDays(call.tx, { repo, tag }, days)));
  for (const { repo, known, digests } of timelines)
    for (const dayMs of known.keys()) report.addDay(dayMs, { repo, digest: digests.get(dayMs) ?? "" });
  const turn = createTurns();
  const vulnerabilities: KnownVulnerabilities = new Map();
  for (const [repo, ofRepo] of Map.groupBy(timelines, (timeline) => timeline.repo)) {
    const decisions = await addDecided(call, held, { repo, timelines: ofRepo }, report);
    for (const { dayMs, from, to } of ofRepo.flatMap(({ moves }) => moves)) {
      for (const { vulnerability, base } of await feedFixes(call.tx, held, [from, to], vulnerabilities)) {
        const ids = [vulnerability.id, ...vulnerability.aliases];
        // What the group has found out itself counts, and not what others say.
        if (!ids.some((id) => decisions.has(decisionKey(base, id)))) report.add(dayMs, { ids, severities: [] });
      }
      await turn();
      call.requireCaller();
    }
  }
  return report.days();
}

/** A tag on the days on which it is known what its image held. */
interface Timeline {
  repo: string;
  known: Map<number, readonly HeldImage[]>;
  /** To which digest it pointed on each of the days. */
  digests: ReadonlyMap<number, string>;
  /** The days on which it pointed to another digest than on the last day before of which this is known. */
  moves: { dayMs: number; from: readonly HeldImage[]; to: readonly HeldImage[] }[];
}

async function timelineOf(held: Held, { repo, digests, before }: TagDays): Promise<Timeline> {
  const timeline: Timeline = { repo, known: new Map(), digests, moves: [] };
  let last: { digest: string; images: readonly HeldImage[] } | undefined;
  for (const digest of before) {
    const images = await held.imagesOf(repo, digest);
    if (images !== undefined) last = { digest, images };
    if (last !== undefined) break;
  }
  for (const [dayMs, digest] of digests) {
    const images = await held.imagesOf(repo, digest);
    if (images === undefined) continue;
    timeline.known.set(dayMs, images);
    if (last !== undefined && last.digest !== digest) timeline.moves.push({ dayMs, from: last.images, to: images });
    last = { digest, images };
  }
  return timeline;
}

/** Adds what advisories of the groups above the repo resolved. Returns what they decide about, by decisionKey. */
async function addDecided(
  call: Caller,
  held: Held,
  { repo, timelines }: { repo: string; timelines: readonly Timeline[] },
  report: Report,
): Promise<ReadonlySet<string>> {
  const decisions = new Set<string>();
  const path = await pathOf(call.tx, repo);
  const turn = createTurns();
  for (const group of ancestorsOf(repo))
    for await (const batch of decidedIn(call.tx, group)) {
      for (const decided of batch) {
        const component = Component.of(held, decided.advisory, path);
        if (component === undefined) continue;
        for (const { base } of component.packages ?? [])
          for (const id of decided.aliases) decisions.add(decisionKey(base, id));
        for (const dayMs of timelines.flatMap((timeline) => daysOf(decided, component, timeline)))
          report.add(dayMs, { ids: decided.aliases, severities: decided.severities });
        await turn();
      }
      call.requireCaller();
    }
  return decisions;
}

const decisionKey = (base: string, id: string): string => `${base} ${vulnerabilityKey(id)}`;

function daysOf({ fixedVersion, timeMs }: Decided, component: Component, { known, moves }: Timeline): number[] {
  if (fixedVersion !== undefined)
    return moves
      .filter(
        ({ from, to }) =>
          component.stateIn(from, fixedVersion) === "affected" && component.stateIn(to, fixedVersion) === "fixed",
      )
      .map(({ dayMs }) => dayMs);
  const images = known.get(dayOf(timeMs));
  return images !== undefined && component.isIn(images) ? [dayOf(timeMs)] : [];
}

class Report {
  readonly #days = new Map<number, Omit<ResolvedDay, "dayMs">>();
  #count = 0;

  addDay(dayMs: number, image: ImageName): void {
    const day = this.#days.get(dayMs) ?? { resolved: [], images: [] };
    this.#days.set(dayMs, day);
    if (!day.images.some(({ repo, digest }) => repo === image.repo && digest === image.digest)) day.images.push(image);
  }

  add(dayMs: number, resolved: Resolved): void {
    this.#days.get(dayMs)?.resolved.push(resolved);
    this.#count += 1;
    if (this.#count > MAX_RESOLVED)
      throw invalidArgument({
        field: "image_refs",
        description: `more than ${MAX_RESOLVED} vulnerabilities were resolved on these days: ask for fewer of them`,
      });
  }

  days(): ResolvedDay[] {
    return [...this.#days].map(([dayMs, day]) => ({ dayMs, ...day })).sort((a, b) => a.dayMs - b.dayMs);
  }
}
