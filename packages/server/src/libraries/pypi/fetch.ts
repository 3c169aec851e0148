import type { StoredBlob } from "../../blobs/index.ts";
import { pypiKey } from "../../lib/versions/index.ts";
import { artifactNamed } from "../artifacts/names.ts";
import { fileNamed } from "../artifacts/visible.ts";
import type { NewVersion } from "../artifacts/write.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read, upstreamsOf } from "../requests/exchange.ts";
import { rangesOf } from "../http/ranges.ts";
import type { ReceivedFile } from "../http/receive.ts";
import { requireOpen } from "../requests/check.ts";
import { keepFetchedFile } from "../upstreams/commands.ts";
import type { WantedFile } from "../upstreams/files.ts";
import type { CoreMetadata } from "./core-metadata.ts";
import { normalizedVersion } from "./filenames.ts";
import { type KnownProject, listedIn, offeredIn } from "./resolve.ts";
import { normalizedName } from "./names.ts";
import { BESIDE, type FileMetadata, type VersionMetadata } from "./offer.ts";
import type { ListedFile } from "./upstream-page.ts";
import { cudaOf, isPreRelease } from "./versions.ts";

const MAX_BESIDE_BYTES = 8 * 1024 * 1024;
const MAX_SUMMARY_CHARS = 512;
/** Source: PyPI, "Integrity API". */
export const PROVENANCE_TYPE = "application/vnd.pypi.integrity.v1+json";

/** Whether something is against a file that was given all the same, in a preview, and was noted. */
export interface Judged {
  isNoted: boolean;
}

/**
 * Gets a file that the upstream lists, or the metadata or provenance beside it, checks it and keeps it, once. Throws
 * 403 for one that is blocked, 404 for one that is not listed, or is here by now, and 502 and 503 when the upstream
 * fails.
 */
export async function fetchListed(exchange: LibraryExchange, known: KnownProject, name: string): Promise<Judged> {
  const { settings, gate, normalized } = known;
  const missing = libraryError(404, `Not found: ${name}`);
  if (settings === undefined) throw missing;
  const found = await listedIn(exchange, known);
  const ending = Object.values(BESIDE).find((each) => name.endsWith(each)) ?? "";
  const filename = name.slice(0, name.length - ending.length);
  const offered = await offeredIn(exchange, found, filename);
  if (offered?.listed === undefined) throw missing;
  const { listed, facts } = offered;
  const wanted =
    ending === "" ? distribution(listed) : ending === BESIDE.metadata ? metadata(listed) : provenance(listed);
  if (wanted === undefined) throw missing;
  requireOpen(exchange, gate, facts);
  const isThere = await upstreamsOf(exchange).files.fetch(settings, {
    ...wanted,
    key: `${normalized}/${name}`,
    isKept: () => isKept(exchange, known, name),
    keep: async (stored, received) => {
      const said = await metadataIn(exchange, stored, { listed, ending, normalized });
      return await write(exchange, { known, listed, name, ending, said }, { stored, received });
    },
  });
  if (!isThere) throw libraryError(404, `Not found: ${name}: the upstream lists it and does not have it`);
  return { isNoted: gate.verdictOn(facts) !== undefined };
}

type Wanted = Omit<WantedFile, "key" | "isKept" | "keep">;

function distribution({ url, sums, sizeBytes }: ListedFile): Wanted {
  return { url, expected: sums, ...(sizeBytes !== undefined && { sizeBytes }) };
}

function metadata({ url, metadata: said }: ListedFile): Wanted | undefined {
  if (said === undefined) return undefined;
  const beside = new URL(url);
  beside.pathname += BESIDE.metadata;
  return { url: beside.href, expected: said === true ? {} : { sha256: said }, maxBytes: MAX_BESIDE_BYTES };
}

function provenance({ provenance: url }: ListedFile): Wanted | undefined {
  if (url === undefined) return undefined;
  return { url, accept: PROVENANCE_TYPE, expected: {}, maxBytes: MAX_BESIDE_BYTES };
}

async function isKept(exchange: LibraryExchange, { group, normalized }: KnownProject, name: string): Promise<boolean> {
  return await read(exchange, async ({ tx }) => {
    const artifact = await artifactNamed(tx, { group, ecosystem: exchange.ecosystem, normalized });
    return artifact !== undefined && (await fileNamed(tx, artifact.uid, name)) !== undefined;
  });
}

/**
 * The core metadata that a file has in it, or is. Undefined for provenance, and for a source distribution without any.
 * Throws 502 for those of another project or version, which clients would reject after the download.
 */
async function metadataIn(
  { deps: { blobs, reading } }: LibraryExchange,
  stored: StoredBlob,
  { listed, ending, normalized }: { listed: ListedFile; ending: string; normalized: string },
): Promise<CoreMetadata | undefined> {
  if (ending === BESIDE.provenance) return undefined;
  const ranges = rangesOf(blobs, stored);
  const wrong = (why: string): Error => libraryError(502, `The upstream has failed: its file ${listed.name}: ${why}`);
  if (ending === "" && !listed.name.endsWith(".whl")) {
    // Readers of archives are loaded where there is something to read.
    const { sdistMetadata } = await import("./sdist.ts");
    const found = await sdistMetadata(ranges, stored.size, listed.name);
    return found && (await reading.run("pypi.metadata", { bytes: found }, found.length));
  }
  const { WheelError, wheelMetadata } = await import("./wheel.ts");
  let found: Uint8Array;
  try {
    found = ending === "" ? await wheelMetadata(ranges, stored.size, normalized) : await ranges(0, stored.size);
  } catch (error) {
    throw error instanceof WheelError ? wrong(error.message) : error;
  }
  const said = await reading.run("pypi.metadata", { bytes: found }, found.length);
  if (normalizedName(said.name) !== normalized || pypiKey(normalizedVersion(said.version)) !== pypiKey(listed.version))
    throw wrong(`its metadata are of ${said.name} ${said.version}`);
  return said;
}

interface Fetched {
  known: KnownProject;
  listed: ListedFile;
  name: string;
  ending: string;
  said: CoreMetadata | undefined;
}

/** Records the file. What stands beside a distribution makes no version of it: a resolver looks at many. */
async function write(
  { deps, ecosystem, callData }: LibraryExchange,
  { known: { group, normalized }, listed, name, ending, said }: Fetched,
  { stored, received: { md5, sha1, sha512 } }: { stored: StoredBlob; received: ReceivedFile },
): Promise<{ generations: string[] }> {
  const { version, uploadMs, seenMs, requiresPython, yanked } = listed;
  const metadata: FileMetadata = {
    uploadMs,
    seenMs,
    ...(ending === "" ? { requiresPython, yanked } : { version }),
    ...(ending !== BESIDE.provenance && said !== undefined && { license: said.license }),
  };
  const input = {
    group,
    ecosystem: ecosystem.number,
    normalized,
    // As its publisher writes it, which is what the catalogue shows.
    name: said !== undefined && normalizedName(said.name) === normalized ? said.name : normalized,
    isPrerelease: isPreRelease(version),
    ...(ending === "" && { version: newVersion(listed, said) }),
    file: { ...stored, name, md5, sha1, sha512, metadata: JSON.stringify(metadata) },
  };
  return await deps.transactor.write(keepFetchedFile, { ...callData, nowMs: deps.clock.nowMs() }, input);
}

function newVersion(
  { version, uploadMs, seenMs }: ListedFile,
  said: CoreMetadata | undefined,
): Omit<NewVersion, "origin"> {
  const publishMs = uploadMs ?? seenMs;
  const metadata: VersionMetadata = { license: said?.license ?? "" };
  return {
    version,
    sortKey: pypiKey(version),
    description: said?.summary.slice(0, MAX_SUMMARY_CHARS) ?? "",
    metadata: JSON.stringify(metadata),
    cuda: cudaOf(version),
    ...(publishMs !== undefined && { publishMs }),
  };
}
