import { prerelease } from "semver";
import { semverKey } from "../../lib/versions/index.ts";
import { artifactNamed } from "../artifacts/names.ts";
import { fileNamed } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read, upstreamsOf } from "../requests/exchange.ts";
import { requireOpen } from "../requests/check.ts";
import { keepFetchedFile } from "../upstreams/commands.ts";
import { unlessKept } from "../upstreams/errors.ts";
import type { UpstreamSettings } from "../upstreams/settings.ts";
import { offeredAttestations } from "./upstream-attestations.ts";
import { type FoundPackage, isRemoved, notServed } from "./resolve.ts";
import { isRecord } from "./manifest.ts";
import { baseName, tarballName } from "./names.ts";
import { offerFacts } from "./offer.ts";
import { type OfferedVersion, sumsOf } from "./upstream-document.ts";

const MAX_DESCRIPTION_CHARS = 4_096;

/** The version that an upstream offers, by the name of its tarball here. Throws 404, also for one that was removed. */
export async function offeredFile(
  exchange: LibraryExchange,
  found: FoundPackage,
  file: string,
): Promise<{ version: string; offered: OfferedVersion }> {
  const { name, document } = found;
  const version = file.slice(baseName(name).length + 1, -".tgz".length);
  const offered = file === tarballName(name, version) ? await document?.entry(version) : undefined;
  if (offered === undefined) await notServed(found, version);
  if (offered === undefined || (await isRemoved(exchange, found, version)))
    throw libraryError(404, `Not found: ${file}`);
  return { version, offered };
}

/**
 * Gets the tarball of a version from the upstream, checks it and keeps it, once. Throws 403 for a version that is
 * blocked, 404 for one that is not there, and 502 and 503 when the upstream fails.
 */
export async function fetchTarball(exchange: LibraryExchange, found: FoundPackage, file: string): Promise<void> {
  const { group, name, settings, gate } = found;
  if (settings === undefined) throw libraryError(404, `Not found: ${file}`);
  const { version, offered } = await offeredFile(exchange, found, file);
  requireOpen(exchange, gate, offerFacts(version, offered));
  const { deps, ecosystem, callData } = exchange;
  const { manifest, publishMs } = offered;
  const { tarball, attestations, ...dist } = isRecord(manifest["dist"]) ? manifest["dist"] : {};
  const isThere = await upstreamsOf(exchange).files.fetch(settings, {
    key: `${name}/${file}`,
    url: String(tarball),
    expected: sumsOf(dist),
    isKept: () =>
      read(exchange, async ({ tx }) => {
        const artifact = await artifactNamed(tx, { group, ecosystem, normalized: name });
        return artifact !== undefined && (await fileNamed(tx, artifact.uid, file)) !== undefined;
      }),
    keep: async (stored, { md5, sha1, sha512 }) => {
      const integrity = `sha512-${Buffer.from(sha512, "hex").toString("base64")}`;
      const { description } = manifest;
      const attested = isRecord(attestations) ? await attestationsOf(exchange, settings, `${name}@${version}`) : [];
      return await deps.transactor.write(
        keepFetchedFile,
        { ...callData, nowMs: deps.clock.nowMs() },
        {
          group,
          ecosystem: ecosystem.number,
          normalized: name,
          name,
          isPrerelease: prerelease(version) !== null,
          version: {
            version,
            sortKey: semverKey(version),
            description: typeof description === "string" ? description.slice(0, MAX_DESCRIPTION_CHARS) : "",
            metadata: JSON.stringify({ ...manifest, dist: { ...dist, integrity, shasum: sha1 } }),
            publishMs,
          },
          file: { ...stored, name: file, md5, sha1, sha512, metadata: JSON.stringify({ attestations: attested }) },
        },
      );
    },
  });
  if (!isThere) throw libraryError(404, `Not found: ${file}: the upstream names it and does not have it`);
}

/** What attests the version; nothing when the upstream fails there: the tarball is what was asked for. */
async function attestationsOf(
  exchange: LibraryExchange,
  settings: UpstreamSettings,
  spec: string,
): ReturnType<typeof offeredAttestations> {
  return (await unlessKept(true, () => offeredAttestations(exchange, settings, spec))) ?? [];
}
