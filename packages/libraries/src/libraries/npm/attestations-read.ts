import { filesOfVersion, versionNamed } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../requests/exchange.ts";
import { groupFor } from "../http/groups.ts";
import { sendJson } from "../requests/send.ts";
import { requireOpen } from "../requests/check.ts";
import { upstreamOf } from "../upstreams/settings.ts";
import { type Attestation, attestationsIn } from "./attestations.ts";
import { findPackage, type FoundPackage } from "./resolve.ts";
import type { Manifest } from "./manifest.ts";
import { factsOf, offerFacts } from "./offer.ts";
import { offeredAttestations, offeredKeys } from "./upstream-attestations.ts";
import { tarballName } from "./names.ts";
import { versionOfTarball } from "./fetch.ts";

/** What the path of attestations begins with; `<name>@<version>` follows. */
export const ATTESTATIONS = "npm/v1/attestations/";

/** GET of the attestations of a version. Source: npm's registry, as `npm audit signatures` reads it. */
export async function sendAttestations(
  exchange: LibraryExchange,
  group: readonly string[],
  spec: string,
): Promise<void> {
  const cut = spec.lastIndexOf("@");
  const [name, version] = [spec.slice(0, cut), spec.slice(cut + 1)];
  const found = await findPackage(exchange, { group, name });
  const attestations = (await keptOf(exchange, found, version)) ?? (await offeredBy(exchange, found, version));
  if (attestations.length === 0) throw libraryError(404, `Not found: attestations of ${spec}`);
  sendJson(exchange, 200, { attestations }, { "cache-control": "private, no-cache" });
}

/** Those of a version that is kept; undefined for one that is not. */
async function keptOf(
  exchange: LibraryExchange,
  { artifact, gate }: FoundPackage,
  version: string,
): Promise<Attestation[] | undefined> {
  if (artifact === undefined) return undefined;
  const kept = await read(exchange, async ({ tx }) => {
    const row = await versionNamed(tx, artifact.uid, version);
    return row && { row, files: await filesOfVersion(tx, artifact.uid, row.uid) };
  });
  if (kept === undefined) return undefined;
  const { row, files } = kept;
  requireOpen(exchange, gate, factsOf(row, JSON.parse(row.metadata) as Manifest));
  return files.flatMap((file) => attestationsIn(file.metadata));
}

/** Those of a version that the upstream offers. */
async function offeredBy(exchange: LibraryExchange, found: FoundPackage, version: string): Promise<Attestation[]> {
  const {
    named: { name },
    settings,
    gate,
  } = found;
  if (settings === undefined) return [];
  const { offered } = await versionOfTarball(exchange, found, tarballName(name, version));
  requireOpen(exchange, gate, offerFacts(version, offered));
  return await offeredAttestations(exchange, settings, `${name}@${version}`);
}

/** GET of the keys with which the upstream signs versions. Those that are published here are not signed. */
export async function sendKeys(exchange: LibraryExchange, path: readonly string[]): Promise<void> {
  const { ecosystem } = exchange;
  const settings = await read(exchange, async (call) =>
    upstreamOf(call, await groupFor(call, path, ecosystem.read), ecosystem),
  );
  const keys = settings && (await offeredKeys(exchange, settings));
  if (keys === undefined) throw libraryError(404, "Not found: keys that versions are signed with");
  sendJson(exchange, 200, keys, { "cache-control": "private, no-cache" });
}
