import { withDocument } from "../requests/document.ts";
import type { LibraryExchange } from "../requests/exchange.ts";
import type { ArrivedFile, Asked, KeptFile, OfferedFile } from "../requests/file.ts";
import { unlessKept } from "../upstreams/errors.ts";
import type { UpstreamSettings } from "../upstreams/settings.ts";
import { isRecord } from "./manifest.ts";
import { baseName, tarballName } from "./names.ts";
import { offerFacts } from "./offer.ts";
import { type FoundPackage, isRemoved, noFile, notServed, offeredPackage } from "./resolve.ts";
import { offeredAttestations } from "./upstream-attestations.ts";
import { type OfferedVersion, sumsOf } from "./upstream-document.ts";

const MAX_DESCRIPTION_CHARS = 4_096;

/** The version that an upstream offers, by the name of its tarball here. Throws 404, also for one that was removed. */
export async function versionOfTarball(
  exchange: LibraryExchange,
  found: FoundPackage,
  file: string,
): Promise<{ version: string; offered: OfferedVersion }> {
  const { named, document } = found;
  const version = file.slice(baseName(named.name).length + 1, -".tgz".length);
  const offered = file === tarballName(named.name, version) ? await document?.entry(version) : undefined;
  if (offered === undefined) await notServed(found, version);
  if (offered === undefined || (await isRemoved(exchange, found, version))) throw noFile(file);
  return { version, offered };
}

/** The tarball of a version that the upstream offers. Throws 404 for one that it does not, 502 and 503. */
export async function offeredTarball(exchange: LibraryExchange, asked: Asked, file: string): Promise<OfferedFile> {
  const { name } = asked.named;
  const found = await withDocument(exchange, asked, offeredPackage(name));
  const { version, offered } = await versionOfTarball(exchange, found, file);
  const dist = isRecord(offered.manifest["dist"]) ? offered.manifest["dist"] : {};
  return {
    facts: () => offerFacts(version, offered),
    wanted: { key: `${name}/${file}`, url: String(dist["tarball"]), expected: sumsOf(dist) },
    kept: (arrived) => keptTarball(exchange, asked.settings, { version, offered, arrived, name }),
    gone: `Not found: ${file}: the upstream names it and does not have it`,
  };
}

async function keptTarball(
  exchange: LibraryExchange,
  settings: UpstreamSettings,
  { version, offered, arrived, name }: { version: string; offered: OfferedVersion; arrived: ArrivedFile; name: string },
): Promise<KeptFile> {
  const { manifest, publishMs } = offered;
  const { sha1, sha512 } = arrived.received;
  const { tarball: _, attestations, ...dist } = isRecord(manifest["dist"]) ? manifest["dist"] : {};
  const integrity = `sha512-${Buffer.from(sha512, "hex").toString("base64")}`;
  const { description } = manifest;
  const attested = isRecord(attestations) ? await attestationsOf(exchange, settings, `${name}@${version}`) : [];
  return {
    of: version,
    version: {
      version,
      description: typeof description === "string" ? description.slice(0, MAX_DESCRIPTION_CHARS) : "",
      metadata: JSON.stringify({ ...manifest, dist: { ...dist, integrity, shasum: sha1 } }),
      publishMs,
    },
    metadata: JSON.stringify({ attestations: attested }),
  };
}

/** What attests the version; nothing when the upstream fails there: the tarball is what was asked for. */
async function attestationsOf(
  exchange: LibraryExchange,
  settings: UpstreamSettings,
  spec: string,
): ReturnType<typeof offeredAttestations> {
  return (await unlessKept(true, () => offeredAttestations(exchange, settings, spec))) ?? [];
}
