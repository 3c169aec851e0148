import { artifactNamed } from "../artifacts/names.ts";
import { versionNamed } from "../artifacts/visible.ts";
import { type LibraryExchange, read, upstreamsOf } from "../requests/exchange.ts";
import { type UpstreamSettings, upstreamFor } from "../upstreams/settings.ts";
import { XML_COST } from "../reading/limits.ts";
import { nameOf, type Release } from "./paths.ts";
import type { KeptMetadata, PomFacts, UpstreamPom } from "./pom-facts.ts";
import { pomDocument } from "./tasks.ts";
import { pomPathsOf, urlOf } from "./upstream-paths.ts";

/** The most bytes of a POM. */
export const MAX_POM_BYTES = 4 * 1024 * 1024;

/** A POM of a release does not change. */
const FRESH_MS = 365 * 24 * 3_600_000;

/** A project has a parent, which has that of its company or foundation. */
const MAX_PARENTS = 6;

/** What the upstream's POM of a release says; undefined when it has none. Throws 502 and 503. */
export async function upstreamPom(
  exchange: LibraryExchange,
  settings: UpstreamSettings,
  release: Release,
): Promise<UpstreamPom | undefined> {
  const { groupId, artifactId, version } = release;
  for (const path of pomPathsOf(release)) {
    const found = await upstreamsOf(exchange).documents.of(settings, path, {
      kind: pomDocument,
      weight: XML_COST,
      args: { release: { groupId, artifactId, version } },
      url: urlOf(settings, path),
      accept: "*/*",
      maxBytes: MAX_POM_BYTES,
      freshMs: FRESH_MS,
    });
    if (found !== undefined) return await found.value();
  }
  return undefined;
}

/**
 * The license that a POM names, or else the one of its parent, or of that one's. Empty when none of them names one, or
 * there is nobody to ask for a parent. Throws 502 and 503.
 */
export async function inheritedLicense(
  exchange: LibraryExchange,
  group: string,
  { license, parent }: Pick<PomFacts, "license" | "parent">,
  depth = 0,
): Promise<string> {
  if (license !== "" || parent === null || depth === MAX_PARENTS) return license;
  const { ecosystem } = exchange;
  const { settings, kept } = await read(exchange, async (call) => {
    const name = { group, ecosystem, normalized: nameOf(parent) };
    const artifact = await artifactNamed(call.tx, name);
    const version = artifact && (await versionNamed(call.tx, artifact.uid, parent.version));
    return { settings: await upstreamFor(call, name), kept: version && (JSON.parse(version.metadata) as KeptMetadata) };
  });
  const above =
    kept?.license === undefined
      ? settings && (await upstreamPom(exchange, settings, parent))
      : { license: kept.license, parent: kept.parent ?? null };
  return above === undefined ? "" : await inheritedLicense(exchange, group, above, depth + 1);
}
