import { crc32 } from "node:zlib";
import { FindingSeverity } from "@moorage/api/messages";
import {
  type GatedImage,
  type GateFinding,
  type GateRules,
  type GateVerdict,
  isSevere,
  MAX_NAMED,
  type UnknownImage,
} from "@moorage/registry/registry";
import type { Database } from "@moorage/kernel/store";
import type { ReadingLimits } from "../attached/statements.ts";
import { knowledgeOf, type ManifestContent, unknownIn } from "../coverage/image-knowledge.ts";
import { staleMessage } from "../coverage/messages.ts";
import { staleFeeds, staleText } from "../coverage/stale-feeds.ts";
import { findingsOfImage, type ImageFinding } from "../findings/read.ts";
import type { KnownVulnerabilities } from "../findings/vulnerabilities.ts";

/** The findings of images that count for a gate, and of which of them it is not known what they hold. */
export interface Counted {
  count: number;
  /** A number for each, equal for the same vulnerability in the same package; absent when there are too many. */
  marks?: number[];
  /** The worst of them first, at most MAX_NAMED. */
  worst: GateFinding[];
  /** When the next one counts, in milliseconds since 1970, if nothing else changes. Infinity when none will. */
  untilMs: number;
  /** At most MAX_NAMED. */
  unknown: UnknownImage[];
  /** The key spaces of their packages. */
  spaces: string[];
  /** Whether the repo holds them. */
  isHeld: boolean;
}

/**
 * The findings of one image that count at the time, and whether it is known what it holds. `manifest`: that of the
 * image, undefined when the repo does not hold it. `known`: what the call has read of vulnerabilities;
 * with its limits.
 */
export async function countFindings(
  tx: Database,
  { repo, digest, manifest }: GatedImage & { manifest: ManifestContent | undefined },
  rules: GateRules,
  nowMs: number,
  { known, ...limits }: { known?: KnownVulnerabilities } & ReadingLimits = {},
): Promise<Counted> {
  // Before the findings are read: what is compared meanwhile is not known yet, and asked for the next time.
  const knowledge = await knowledgeOf(tx, { repo, digest }, manifest);
  const unknown = knowledge && unknownIn(knowledge);
  const open = (await findingsOfImage(tx, { repo, digest, state: "open" }, known, limits)) ?? [];
  const meant = open.filter((finding) => isMeant(finding, rules));
  const counted = meant.filter(({ sinceMs }) => nowMs - sinceMs >= rules.graceMs);
  const next = meant.filter(({ sinceMs }) => nowMs - sinceMs < rules.graceMs).map(({ sinceMs }) => sinceMs);
  return {
    count: counted.length,
    ...(counted.length <= MAX_MARKS && {
      marks: counted.map(({ vulnerability: { id }, package: { purl } }) => crc32(sameKey(id, purl))),
    }),
    worst: worstOf(counted.map((finding) => findingOf(finding, digest))),
    untilMs: next.reduce((least, sinceMs) => Math.min(least, sinceMs), Infinity) + rules.graceMs,
    unknown: unknown === undefined ? [] : [unknown],
    spaces: knowledge?.coverage.spaces ?? [],
    isHeld: manifest !== undefined,
  };
}

/** Of more findings no marks are kept, and those of several images are not put together. */
const MAX_MARKS = 1_000;

/** Architectures and distributions stand in qualifiers: without them a package is the same in all images of one. */
function sameKey(vulnerability: string, purl: string): string {
  return `${vulnerability} ${purl.split("?", 1)[0] ?? ""}`;
}

/**
 * The findings of several images together: the same vulnerability in the same package is one. `platforms`: of the
 * images, by their digests.
 */
export function together(counts: readonly Counted[], platforms: ReadonlyMap<string, string> = new Map()): Counted {
  const marks = new Set<number>();
  for (const each of counts) for (const mark of each.marks ?? []) marks.add(mark);
  return {
    count:
      counts.length > 1 && counts.every((each) => each.marks !== undefined)
        ? marks.size
        : counts.reduce((sum, { count }) => sum + count, 0),
    worst: worstOf(
      once(
        counts.flatMap(({ worst }) => worst),
        platforms,
      ),
    ),
    untilMs: counts.reduce((least, { untilMs }) => Math.min(least, untilMs), Infinity),
    unknown: counts.flatMap(({ unknown }) => unknown).slice(0, MAX_NAMED),
    spaces: [...new Set(counts.flatMap(({ spaces }) => spaces))],
    isHeld: counts.every(({ isHeld }) => isHeld),
  };
}

/** Each vulnerability of each package once, with the platforms that have it. */
function once(findings: readonly GateFinding[], platforms: ReadonlyMap<string, string>): GateFinding[] {
  const groups = Map.groupBy(findings, ({ vulnerability, purl }) => sameKey(vulnerability, purl));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const named = group.flatMap(({ digest }) => platforms.get(digest) ?? []).filter((platform) => platform !== "");
    return [named.length === 0 ? first : { ...first, platforms: [...new Set(named)].sort() }];
  });
}

/** Whether a gate with these rules lets an image pass of which this is known. */
export function passes({ count, unknown }: Counted, { holdsUnknown }: GateRules): boolean {
  return count === 0 && !(holdsUnknown && unknown.length > 0);
}

/**
 * The verdict on what was counted and on the stale feeds that this rests on; undefined when it passes, it is known what
 * it holds, and no feed is stale.
 */
export function verdictOn(counted: Counted, rules: GateRules, stale: GateVerdict["stale"]): GateVerdict | undefined {
  const { count, worst, unknown } = counted;
  if (count === 0 && unknown.length === 0 && stale.length === 0) return undefined;
  return { holds: !passes(counted, rules), count, worst, unknown, stale };
}

/** The stale feeds that the findings of packages in these key spaces rest on. */
export async function staleOf(tx: Database, spaces: readonly string[], nowMs: number): Promise<GateVerdict["stale"]> {
  const stale = await staleFeeds(tx, nowMs, { spaces });
  return stale.map((each) => ({ feed: each.feed, message: staleMessage(each), text: staleText(each) }));
}

function isMeant({ vulnerability: { severity, isExploited }, fixed }: ImageFinding, rules: GateRules): boolean {
  return isSevere(severity, rules) && (isExploited || !rules.exploitedOnly) && (fixed.length > 0 || !rules.fixableOnly);
}

function findingOf({ vulnerability, package: held, fixed }: ImageFinding, digest: string): GateFinding {
  const { id, severity, isExploited } = vulnerability;
  return { vulnerability: id, severity, isExploited, purl: held.purl, fixed, digest };
}

/** The worst of them first, at most MAX_NAMED: without sorting the thousands that are not named. */
function worstOf(findings: readonly GateFinding[]): GateFinding[] {
  const worst: GateFinding[] = [];
  for (const each of findings) {
    const last = worst[MAX_NAMED - 1];
    if (last !== undefined && fromTheWorst(each, last) >= 0) continue;
    worst.push(each);
    worst.sort(fromTheWorst).splice(MAX_NAMED);
  }
  return worst;
}

/** What is exploited comes first, then what is most severe. */
function fromTheWorst(a: GateFinding, b: GateFinding): number {
  const rank = ({ severity }: GateFinding): number => FindingSeverity[severity];
  const order = Number(b.isExploited) - Number(a.isExploited) || rank(b) - rank(a);
  const [one, other] = [`${a.vulnerability} ${a.purl}`, `${b.vulnerability} ${b.purl}`];
  return order || (one < other ? -1 : one > other ? 1 : 0);
}
