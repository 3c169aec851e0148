import { MoorageError } from "@moorage/kernel/errors";
import { versionNamed } from "../artifacts/visible.ts";
import { ORIGIN } from "../ecosystem/origin.ts";
import { XML_COST } from "../reading/limits.ts";
import { ReadingError } from "../reading/reading-error.ts";
import { type LibraryExchange, read, upstreamsOf } from "../requests/exchange.ts";
import type { ArrivedFile, Asked, KeptFile, OfferedFile } from "../requests/file.ts";
import { removedIn } from "../requests/resolve.ts";
import { failureAnswer, UpstreamFailure } from "../upstreams/errors.ts";
import type { ExpectedSums } from "../upstreams/files.ts";
import type { UpstreamSettings } from "../upstreams/settings.ts";
import { keptFacts, upstreamFacts } from "./facts.ts";
import { upstreamListing } from "./offer.ts";
import { endingOf, type MavenPath, type Sum } from "./paths.ts";
import type { KeptMetadata, PomFacts, PomMetadata, UpstreamPom } from "./pom-facts.ts";
import { pomFacts } from "./tasks.ts";
import { folderOf, lastModifiedMs, urlOf } from "./upstream-paths.ts";
import { MAX_POM_BYTES } from "./upstream-poms.ts";

const MAX_SUM_BYTES = 1024;
const LENGTHS: Readonly<Record<Sum, number>> = { md5: 32, sha1: 40, sha256: 64, sha512: 128 };
/** Most repositories have SHA-1 beside each file, newer files SHA-256, too. The others are asked for without these. */
const ASKED: readonly (readonly Sum[])[] = [
  ["sha256", "sha1"],
  ["sha512", "md5"],
];

type FilePath = MavenPath & { kind: "file" };

/**
 * A file of a release that the upstream may have: only a request for it says whether it does. Undefined for a release
 * that is the group's own, or was.
 */
export async function offeredFile(
  exchange: LibraryExchange,
  asked: Asked,
  path: FilePath,
  missing: string,
): Promise<OfferedFile | undefined> {
  const { artifact, settings } = asked;
  const version = artifact && (await read(exchange, ({ tx }) => versionNamed(tx, artifact.uid, path.version)));
  if (version?.origin === ORIGIN.published || (await removedIn(exchange, asked)).has(path.version)) return undefined;
  const place = `${folderOf(path)}/${path.version}/${path.file}`;
  const isPom = endingOf(path.artifactId, path.version, path.file) === ".pom";
  // What is known of the POM of a release that is not here: nothing where nobody has judged it.
  let pom: UpstreamPom | undefined;
  return {
    async facts() {
      if (version !== undefined) return await keptFacts(exchange, asked, path, version);
      const found = await upstreamFacts(exchange, asked, path, async () => {
        const listing = await (await upstreamListing(exchange, settings, path))?.value();
        return listing?.versions.find(([listed]) => listed === path.version)?.[1];
      });
      ({ pom } = found);
      return found.facts;
    },
    wanted: {
      key: place,
      url: urlOf(settings, place),
      expected: () => sumsOf(exchange, settings, place),
      ...(isPom && { maxBytes: MAX_POM_BYTES }),
    },
    kept: (arrived) => keptFile(exchange, arrived, { path, pom, isPom }),
    gone: missing,
  };
}

/** What is kept of a file, and of its release when it is the first one of it. Throws 502 for what is called a POM. */
async function keptFile(
  exchange: LibraryExchange,
  { stored, headers, nowMs }: ArrivedFile,
  { path, pom: judged, isPom }: { path: FilePath; pom: UpstreamPom | undefined; isPom: boolean },
): Promise<KeptFile> {
  const { blobs } = exchange.deps;
  const pom = isPom
    ? await readPom(exchange, Buffer.from(await blobs.readWhole(stored.digest, stored.generation)), path)
    : judged;
  const ofPom: PomMetadata | undefined = isPom && pom !== undefined ? { packaging: pom.packaging } : undefined;
  const metadata: KeptMetadata = pom === undefined ? {} : { license: pom.license, parent: pom.parent };
  return {
    of: path.version,
    ...(ofPom !== undefined && { metadata: JSON.stringify(ofPom) }),
    version: {
      version: path.version,
      description: pom?.description ?? "",
      metadata: JSON.stringify(metadata),
      publishMs: judged?.publishMs ?? lastModifiedMs(headers, nowMs) ?? nowMs,
    },
  };
}

async function readPom({ deps }: LibraryExchange, bytes: Buffer, path: FilePath): Promise<PomFacts> {
  const { groupId, artifactId, version } = path;
  try {
    return await deps.reading.run(
      pomFacts,
      { bytes, release: { groupId, artifactId, version } },
      bytes.length * XML_COST,
    );
  } catch (error) {
    if (error instanceof MoorageError && !(error instanceof ReadingError)) throw error;
    throw wrong(error instanceof Error ? error.message : "the POM is none", error);
  }
}

/** The sums that the upstream has beside a file. With none of them, the file is taken as it comes. */
async function sumsOf(exchange: LibraryExchange, settings: UpstreamSettings, place: string): Promise<ExpectedSums> {
  for (const kinds of ASKED) {
    const found = await Promise.all(
      kinds.map(async (kind) => [kind, await sumBeside(exchange, settings, place, kind)] as const),
    );
    const known = found.filter(([, sum]) => sum !== undefined);
    if (known.length > 0) return Object.fromEntries(known);
  }
  return {};
}

async function sumBeside(
  exchange: LibraryExchange,
  settings: UpstreamSettings,
  place: string,
  kind: Sum,
): Promise<string | undefined> {
  const found = await upstreamsOf(exchange).files.small(settings, urlOf(settings, `${place}.${kind}`), MAX_SUM_BYTES);
  if (found === undefined) return undefined;
  // Some have the name of the file behind the sum, or before it and a colon or equals sign.
  const words = found.body
    .toString("latin1")
    .trim()
    .toLowerCase()
    .split(/[\s:=]+/);
  const sum = words.find((word) => word.length === LENGTHS[kind] && /^[0-9a-f]+$/.test(word));
  if (sum === undefined) throw wrong(`${place}.${kind} has no ${kind} in it`);
  return sum;
}

function wrong(reason: string, cause?: unknown): Error {
  return failureAnswer(new UpstreamFailure("wrong", reason, cause));
}
