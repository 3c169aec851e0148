import { MoorageError } from "@moorage/kernel/errors";
import { ORIGIN } from "../ecosystem/origin.ts";
import type { LibraryExchange } from "../requests/exchange.ts";
import type { VersionFacts } from "../policies/judge.ts";
import type { UpstreamSettings } from "../upstreams/settings.ts";
import { listedFacts, type VersionRow } from "./listed-facts.ts";
import type { KeptMetadata, UpstreamPom } from "./pom-facts.ts";
import type { Release } from "./paths.ts";
import { inheritedLicense, upstreamPom } from "./upstream-poms.ts";

/** Where a release is judged: the uid of the group, and the upstream, if one is asked for the artifact. */
interface JudgedPlace {
  group: string;
  settings: UpstreamSettings | undefined;
}

/**
 * What a release that is kept is judged by. The upstream is asked for its POM where nobody has read that, and for
 * those of its parents: when it does not answer, nothing is known of the license.
 */
export async function keptFacts(
  exchange: LibraryExchange,
  { group, settings }: JudgedPlace,
  release: Release,
  row: VersionRow,
): Promise<VersionFacts> {
  const facts = listedFacts(row);
  if (row.origin !== ORIGIN.upstream) return facts;
  const { license, parent = null } = JSON.parse(row.metadata) as KeptMetadata;
  try {
    const pom =
      license === undefined ? settings && (await upstreamPom(exchange, settings, release)) : { license, parent };
    return pom === undefined ? facts : { ...facts, license: await inheritedLicense(exchange, group, pom) };
  } catch (error) {
    if (error instanceof MoorageError) return facts;
    throw error;
  }
}

/**
 * What a release of the upstream is judged by that is not kept. `seenMs`: a time at which it was there, where one is
 * known. `pom` is undefined for a release without. Throws 502 and 503.
 */
export async function upstreamFacts(
  exchange: LibraryExchange,
  { group, settings }: JudgedPlace & { settings: UpstreamSettings },
  release: Release,
  seenMs: () => Promise<number | undefined>,
): Promise<{ facts: VersionFacts; pom: UpstreamPom | undefined }> {
  const pom = await upstreamPom(exchange, settings, release);
  const license = pom === undefined ? "" : await inheritedLicense(exchange, group, pom);
  const publishMs = pom?.publishMs ?? (await seenMs()) ?? exchange.callData.nowMs;
  return { pom, facts: { version: release.version, origin: ORIGIN.upstream, publishMs, license } };
}
