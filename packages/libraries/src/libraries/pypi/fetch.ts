import type { StoredBlob } from "@moorage/kernel/blobs";
import { pypiKey } from "@moorage/kernel/lib/versions";
import { libraryError } from "../http/errors.ts";
import { rangesOf } from "../http/ranges.ts";
import { withDocument } from "../requests/document.ts";
import type { LibraryExchange } from "../requests/exchange.ts";
import type { Asked, KeptFile, OfferedFile } from "../requests/file.ts";
import type { CoreMetadata } from "./core-metadata.ts";
import { normalizedVersion } from "./filenames.ts";
import { normalizedName } from "./names.ts";
import { BESIDE } from "./beside.ts";
import type { FileMetadata, VersionMetadata } from "./offer.ts";
import { offeredIn, offeredProject } from "./resolve.ts";
import { coreMetadata } from "./tasks.ts";
import type { ListedFile } from "./upstream-page.ts";

const MAX_BESIDE_BYTES = 8 * 1024 * 1024;
const MAX_SUMMARY_CHARS = 512;
/** Source: PyPI, "Integrity API". */
export const PROVENANCE_TYPE = "application/vnd.pypi.integrity.v1+json";

/**
 * A file that the upstream lists, or the metadata or provenance beside it. Undefined for one that it does not list, or
 * that is here by now. Throws 404, 502 and 503.
 */
export async function offeredDistribution(
  exchange: LibraryExchange,
  asked: Asked,
  name: string,
): Promise<OfferedFile | undefined> {
  const { normalized } = asked.named;
  const found = await withDocument(exchange, asked, offeredProject(normalized));
  const ending = Object.values(BESIDE).find((each) => name.endsWith(each)) ?? "";
  const offered = await offeredIn(exchange, found, name.slice(0, name.length - ending.length));
  if (offered?.listed === undefined) return undefined;
  const { listed, facts } = offered;
  const wanted =
    ending === "" ? distribution(listed) : ending === BESIDE.metadata ? metadata(listed) : provenance(listed);
  if (wanted === undefined) return undefined;
  return {
    facts: () => facts,
    wanted: { ...wanted, key: `${normalized}/${name}` },
    async kept({ stored }) {
      const said = await metadataIn(exchange, stored, { listed, ending, normalized });
      return keptFile({ listed, ending, said, normalized });
    },
    gone: `Not found: ${name}: the upstream lists it and does not have it`,
  };
}

type Wanted = Omit<OfferedFile["wanted"], "key">;

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
    return found && (await reading.run(coreMetadata, { bytes: found }, found.length));
  }
  const { WheelError, wheelMetadata } = await import("./wheel.ts");
  let found: Uint8Array;
  try {
    found = ending === "" ? await wheelMetadata(ranges, stored.size, normalized) : await ranges(0, stored.size);
  } catch (error) {
    throw error instanceof WheelError ? wrong(error.message) : error;
  }
  const said = await reading.run(coreMetadata, { bytes: found }, found.length);
  if (normalizedName(said.name) !== normalized || pypiKey(normalizedVersion(said.version)) !== pypiKey(listed.version))
    throw wrong(`its metadata are of ${said.name} ${said.version}`);
  return said;
}

/** What is kept of it. What stands beside a distribution makes no version of it: a resolver looks at many. */
function keptFile({
  listed,
  ending,
  said,
  normalized,
}: {
  listed: ListedFile;
  ending: string;
  said: CoreMetadata | undefined;
  normalized: string;
}): KeptFile {
  const { version, uploadMs, seenMs, requiresPython, yanked } = listed;
  const metadata: FileMetadata = {
    uploadMs,
    seenMs,
    ...(ending === "" ? { requiresPython, yanked } : { version }),
    ...(ending !== BESIDE.provenance && said !== undefined && { license: said.license }),
  };
  return {
    of: version,
    // As its publisher writes it, which is what the catalog shows.
    ...(said !== undefined && normalizedName(said.name) === normalized && { name: said.name }),
    ...(ending === "" && { version: newVersion(listed, said) }),
    metadata: JSON.stringify(metadata),
  };
}

function newVersion(
  { version, uploadMs, seenMs }: ListedFile,
  said: CoreMetadata | undefined,
): NonNullable<KeptFile["version"]> {
  const publishMs = uploadMs ?? seenMs;
  const metadata: VersionMetadata = { license: said?.license ?? "" };
  return {
    version,
    description: said?.summary.slice(0, MAX_SUMMARY_CHARS) ?? "",
    metadata: JSON.stringify(metadata),
    ...(publishMs !== undefined && { publishMs }),
  };
}
