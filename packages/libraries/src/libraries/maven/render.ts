import { isMavenPrerelease, mavenKey } from "@moorage/kernel/lib/versions";
import type { Row } from "@moorage/kernel/store";
import { ORIGIN } from "../ecosystem/origin.ts";
import { type Judge, judgeOf, shown, type VersionFacts, wholeBlockOf } from "../policies/judge.ts";
import type { RenderInput, RenderOutput } from "../requests/document.ts";
import { packed } from "../requests/rendering.ts";
import { unpackedRows } from "../requests/rows.ts";
import { wholeOf } from "../upstreams/pieces.ts";
import { listedFacts } from "./listed-facts.ts";
import { folderMetadata, type Plugin } from "./metadata.ts";
import { type Coordinates, isSnapshot } from "./paths.ts";
import type { MetadataKind, UpstreamMetadata } from "./upstream-metadata.ts";

/** What the POM of a release has said. */
export type SaidFacts = Pick<VersionFacts, "publishMs" | "license">;

/** What the metadata in a folder are rendered from, as plain data. @public in the packed package's declarations. */
export interface MetadataInput extends RenderInput<MetadataKind> {
  coordinates: Coordinates;
  plugins: readonly Plugin[];
  /** What POMs have said of releases that are not kept. */
  said: ReadonlyMap<string, SaidFacts>;
}

/**
 * Metadata. `young`: the newest of the releases that are too young for the policy as far as is known, whose POMs nobody
 * has read.
 */
export type MetadataOutput = RenderOutput & { young: string[]; hasMore: boolean };

/** How many POMs are asked for at most for one document. */
const MAX_ASKED = 100;

/** Renders the metadata in the folder of an artifact, of a groupId, or both. */
export async function renderMetadata(input: MetadataInput): Promise<MetadataOutput> {
  const { coordinates, document, fetchedMs, removed, plugins, said } = input;
  const { artifact, versions: kept } = unpackedRows(input.rows);
  const listed = document && withoutRemoved(await wholeOf(document), new Set(removed));
  if (artifact === undefined && (listed?.versions.length ?? 0) === 0 && plugins.length === 0)
    return { young: [], hasMore: false, empty: true };
  const judge = await judgeOf(input.judge);
  const facts = new Map(kept.map((row) => [row.version, listedFacts(row)]));
  const { asked, hasMore } = addForeign(facts, listed?.versions ?? [], { said, judge });
  const sorted = inOrder([...facts.values()]);
  const result = shown(judge, sorted, (one) => one);
  const whole = plugins.length === 0 ? wholeBlockOf(result) : undefined;
  if (whole !== undefined) return { young: asked, hasMore, whole };
  const versions = result.visible.map(({ version }) => version);
  const hasOwn = kept.some(({ origin }) => origin === ORIGIN.published);
  const saidRelease = hasOwn ? "" : (listed?.release ?? "");
  const release = releaseOf(versions, saidRelease);
  const wanted = releaseOf(
    sorted.map(({ version }) => version),
    saidRelease,
  );
  const versioning = {
    ...coordinates,
    versions,
    latest: hasOwn || release === "" ? (versions.at(-1) ?? "") : release,
    release,
    updateMs: updatedMs(hasOwn || listed === undefined ? artifact : undefined, fetchedMs, listed),
  };
  const rendered = await packed({
    text: folderMetadata(versions.length === 0 ? undefined : versioning, plugins),
    untilMs: result.nextMs,
    blocked: result.hidden.find(({ version }) => version === wanted),
  });
  return { young: asked, hasMore, rendered };
}

function withoutRemoved(listed: UpstreamMetadata, removed: ReadonlySet<string>): UpstreamMetadata {
  if (removed.size === 0) return listed;
  return { ...listed, versions: listed.versions.filter(([version]) => !removed.has(version)) };
}

/**
 * Adds what is listed and not kept. A release is no younger than the document that listed it first, and as old as its
 * POM where that was read. Answers the newest of those whose POM is to be read.
 */
function addForeign(
  facts: Map<string, VersionFacts>,
  listed: UpstreamMetadata["versions"],
  { said, judge }: { said: MetadataInput["said"]; judge: Judge },
): { asked: string[]; hasMore: boolean } {
  const young: { version: string; key: string }[] = [];
  for (const [version, publishMs] of listed) {
    if (facts.has(version)) continue;
    const first: VersionFacts = { version, origin: ORIGIN.upstream, publishMs, license: null };
    const known = said.get(version);
    facts.set(version, { ...first, ...known });
    const isAsked = known === undefined && judge.mode !== "none";
    if (isAsked && judge.verdictOn(first)?.reason === "cooldown") young.push({ version, key: mavenKey(version) });
  }
  young.sort((one, other) => (one.key < other.key ? 1 : -1));
  return { asked: young.slice(0, MAX_ASKED).map(({ version }) => version), hasMore: young.length > MAX_ASKED };
}

function inOrder(facts: readonly VersionFacts[]): VersionFacts[] {
  const keyed = facts.map((one) => ({ one, key: mavenKey(one.version) }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return keyed.map(({ one }) => one);
}

/** The release that the upstream names, when it is shown; else the newest that is no pre-release, or the newest. */
function releaseOf(versions: readonly string[], said: string): string {
  if (said !== "" && versions.includes(said)) return said;
  const newest = versions.findLast((version) => !isSnapshot(version)) ?? "";
  if (said === "") return newest;
  return versions.findLast((version) => !isSnapshot(version) && !isMavenPrerelease(version)) ?? newest;
}

function updatedMs(
  artifact: Row<"artifacts"> | undefined,
  fetchedMs: number | undefined,
  listed: UpstreamMetadata | undefined,
): number {
  const foreignMs = listed === undefined || listed.updateMs === 0 ? (fetchedMs ?? 0) : listed.updateMs;
  return Math.max(artifact?.update_time ?? 0, foreignMs);
}
