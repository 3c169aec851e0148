import { ChangeKind, FindingSeverity, FindingState, FixState } from "@moorage/api/messages";
import { invalidArgument } from "@moorage/kernel/errors";
import { purlWithoutVersion } from "@moorage/kernel/lib/purls";
import { createTurns } from "@moorage/kernel/lib/turns";
import { countingSources } from "../attached/sources.ts";
import { knowledgeOf } from "../coverage/image-knowledge.ts";
import { isAnyUnmatched } from "../images/image-packages.ts";
import { manifestOf } from "../coverage/images.ts";
import { findingsOfImage, type ImageFinding } from "../findings/read.ts";
import type { KnownVulnerabilities } from "../findings/vulnerabilities.ts";
import { weighFindings } from "../images/weights.ts";
import type { Place, PlatformImage } from "./images.ts";
import { compareText, orderOf, packagesKnown, sorted } from "./packages.ts";
import type { ImagePair, PlatformDiffers } from "./platforms.ts";

/** What one side knows of a vulnerability in a package. */
export interface VulnerabilityKnown {
  state: FindingState;
  versions: string[];
  fixState: FixState;
  fixVersions: string[];
  closeReason: string;
  /** The statuses that are claimed: see ImageFinding.claims. */
  claims: string[];
}

/** A vulnerability in a package that differs, on these platforms. */
export interface VulnerabilityChanged {
  kind: ChangeKind;
  vulnerability: string;
  aliases: string[];
  /** Without version and qualifiers. */
  purl: string;
  name: string;
  severity: FindingSeverity;
  score?: number;
  kev: boolean;
  from?: VulnerabilityKnown;
  to?: VulnerabilityKnown;
  platforms: string[];
}

/** As of when each side is read, in milliseconds since 1970; now without. */
export interface SideTimes {
  from: number | undefined;
  to: number | undefined;
}

/** The most findings that are compared for one answer, both sides together. */
const MAX_FINDINGS = 100_000;

/**
 * The vulnerabilities that differ between the images of each pair, the worst first; what differs in the same way on
 * several platforms is one change. `platforms` are what is answered of the pairs, one for each: their images get the
 * reason where nothing is known, and `complete` says that there is none. `spaces`: the key spaces of the packages.
 * Throws INVALID_ARGUMENT on `to` when there are too many findings to compare, and ABORTED when the caller leaves.
 */
export async function vulnerabilityChanges(
  place: Place,
  pairs: readonly ImagePair[],
  platforms: readonly PlatformDiffers[],
  times: SideTimes,
): Promise<{ changes: VulnerabilityChanged[]; complete: boolean; spaces: string[] }> {
  const changes = new Map<string, VulnerabilityChanged>();
  const reader = new FindingsReader(place);
  let complete = true;
  for (const [at, { platform, from, to }] of pairs.entries()) {
    // One image as of one time has no difference, whatever is known of it.
    if (from?.digest === to?.digest && times.from === times.to) continue;
    const [ours, theirs] = [await reader.read(from, times.from), await reader.read(to, times.to)];
    for (const [side, { reason, uncovered }] of [["from", ours] as const, ["to", theirs] as const]) {
      const image = platforms[at]?.[side];
      const why = reason || uncovered;
      if (why === "" || image === undefined) continue;
      image.vulnerabilitiesReason = why;
      complete = false;
    }
    if (ours.reason === "" && theirs.reason === "") addChanges(changes, platform, ours.found, theirs.found);
  }
  const worstFirst = (a: VulnerabilityChanged, b: VulnerabilityChanged): number =>
    b.severity - a.severity ||
    compareText(a.vulnerability, b.vulnerability) ||
    compareText(a.purl, b.purl) ||
    compareText(a.platforms[0] ?? "", b.platforms[0] ?? "");
  return { changes: [...changes.values()].sort(worstFirst), complete, spaces: [...reader.spaces] };
}

interface SideFindings {
  /** Why nothing is known; empty when it is. */
  reason: string;
  /** Why not all is known, as no feed covers some of its packages; empty when all is. */
  uncovered: string;
  /** By package and vulnerability. */
  found: ReadonlyMap<string, readonly ImageFinding[]>;
}

const NONE: SideFindings = { reason: "", uncovered: "", found: new Map() };

/** Reads the findings of images within the bounds of one answer. */
class FindingsReader {
  /** The key spaces of the packages of the images that were read. */
  readonly spaces = new Set<string>();
  readonly #place: Place;
  readonly #known: KnownVulnerabilities = new Map();
  readonly #turn = createTurns();
  #left = MAX_FINDINGS;

  constructor(place: Place) {
    this.#place = place;
  }

  /** The findings of an image, open ones and those that hold no more; none of no image. */
  async read(image: PlatformImage | undefined, atMs: number | undefined): Promise<SideFindings> {
    if (image === undefined) return NONE;
    const { call, repo } = this.#place;
    const { digest } = image;
    // What another repo holds under that digest is not this one's to show.
    if (image.manifest === undefined) return { ...NONE, reason: "it is not stored here" };
    const asOf = { repo, digest, ...(atMs !== undefined && { atMs }) };
    const counting = await countingSources(call.tx, asOf);
    // What anybody attached alone makes nothing known.
    if (counting[0]?.isClaim !== false) {
      const { reason } = await packagesKnown(call.tx, repo, digest);
      return { ...NONE, reason: reason || "it was not known at that time what it holds" };
    }
    const sources = counting.map(({ source }) => source);
    if (await isAnyUnmatched(call.tx, digest, sources))
      return { ...NONE, reason: "its packages wait to be compared with the records of the feeds" };
    await weighFindings(call, { ...asOf, sources });
    const all: ImageFinding[] = [];
    for (const state of ["open", "closed"] as const) {
      for (const each of (await findingsOfImage(call.tx, { ...asOf, sources, state }, this.#known, call)) ?? [])
        all.push(each);
      await this.#turn();
      call.requireCaller();
    }
    this.#left -= all.length;
    if (this.#left < 0)
      throw invalidArgument({ field: "to", description: `the images have more than ${MAX_FINDINGS} findings in all` });
    const found = Map.groupBy(all, (each) => `${purlWithoutVersion(each.package.purl)} ${each.vulnerability.id}`);
    return { reason: "", uncovered: await this.#uncovered(digest), found };
  }

  async #uncovered(digest: string): Promise<string> {
    const image = { repo: this.#place.repo, digest };
    const { tx } = this.#place.call;
    const known = await knowledgeOf(tx, image, await manifestOf(tx, image));
    for (const space of known?.coverage.spaces ?? []) this.spaces.add(space);
    return known?.state === "NO_DATA" ? known.reason : "";
  }
}

function addChanges(
  changes: Map<string, VulnerabilityChanged>,
  platform: string,
  from: SideFindings["found"],
  to: SideFindings["found"],
): void {
  for (const key of new Set([...from.keys(), ...to.keys()])) {
    const [first] = from.get(key) ?? to.get(key) ?? [];
    if (first === undefined) continue;
    const purl = purlWithoutVersion(first.package.purl);
    const [ours, theirs] = [knownOf(purl, from.get(key)), knownOf(purl, to.get(key))];
    const kind = kindOf(ours, theirs);
    if (kind === undefined) continue;
    const { id, aliases, severity, score, isExploited } = first.vulnerability;
    const same = JSON.stringify([key, ours, theirs]);
    const change = changes.get(same) ?? {
      kind,
      vulnerability: id,
      aliases,
      purl,
      name: first.package.name,
      severity: FindingSeverity[severity],
      ...(score !== undefined && { score }),
      kev: isExploited,
      ...(ours !== undefined && { from: ours }),
      ...(theirs !== undefined && { to: theirs }),
      platforms: [],
    };
    changes.set(same, change);
    if (!change.platforms.includes(platform)) change.platforms.push(platform);
  }
}

/** Undefined when nothing differs, or when it holds on neither side. */
function kindOf(from: VulnerabilityKnown | undefined, to: VulnerabilityKnown | undefined): ChangeKind | undefined {
  if (from?.state !== FindingState.OPEN && to?.state !== FindingState.OPEN) return undefined;
  if (from === undefined) return ChangeKind.ADDED;
  if (to === undefined) return ChangeKind.REMOVED;
  return from.state === to.state && from.fixState === to.fixState ? undefined : ChangeKind.CHANGED;
}

function knownOf(purl: string, findings: readonly ImageFinding[] = []): VulnerabilityKnown | undefined {
  if (findings.length === 0) return undefined;
  const open = findings.filter(({ closedMs }) => closedMs === null);
  const counted = open.length > 0 ? open : findings;
  const order = orderOf(purl);
  const fixVersions = sorted(new Set(counted.flatMap(({ fixed }) => fixed)), order);
  const last = counted.reduce((a, b) => ((b.closedMs ?? 0) > (a.closedMs ?? 0) ? b : a));
  return {
    state: open.length > 0 ? FindingState.OPEN : FindingState.CLOSED,
    versions: sorted(new Set(counted.map((each) => each.package.version)), order),
    fixState:
      fixVersions.length > 0
        ? FixState.FIXED
        : counted.every(({ state }) => state === "WONT_FIX")
          ? FixState.WONT_FIX
          : FixState.NOT_FIXED,
    fixVersions,
    closeReason: last.closeReason,
    claims: [...new Set(counted.flatMap(({ claims }) => claims.map(({ status }) => status)))].sort(),
  };
}
