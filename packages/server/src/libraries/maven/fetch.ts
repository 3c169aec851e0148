import type { StoredBlob } from "../../blobs/index.ts";
import { createLru } from "../../lib/lru.ts";
import { isMavenPrerelease, mavenKey } from "../../lib/versions/index.ts";
import { artifactNamed } from "../artifacts/names.ts";
import { fileNamed } from "../artifacts/visible.ts";
import { MoorageError } from "../../errors.ts";
import { type LibraryExchange, read, upstreamsOf } from "../requests/exchange.ts";
import { XML_COST } from "../reading/limits.ts";
import { ReadingError } from "../reading/reading-error.ts";
import type { ReceivedFile } from "../http/receive.ts";
import { type FetchedFile, keepFetchedFile } from "../upstreams/commands.ts";
import { failureAnswer, UpstreamFailure } from "../upstreams/errors.ts";
import type { ExpectedSums } from "../upstreams/files.ts";
import type { UpstreamSettings } from "../upstreams/settings.ts";
import { endingOf, type MavenPath, nameOf, type Sum } from "./paths.ts";
import type { KeptMetadata, PomFacts, UpstreamPom } from "./pom-facts.ts";
import { folderOf, lastModifiedMs, urlOf } from "./upstream-paths.ts";
import { MAX_POM_BYTES } from "./upstream-poms.ts";

const MAX_SUM_BYTES = 1024;
const MISSING_MS = 60_000;
const MAX_MISSING = 20_000;
const LENGTHS: Readonly<Record<Sum, number>> = { md5: 32, sha1: 40, sha256: 64, sha512: 128 };
/** Most repositories have SHA-1 beside each file, newer files SHA-256, too. The others are asked for without these. */
const ASKED: readonly (readonly Sum[])[] = [
  ["sha256", "sha1"],
  ["sha512", "md5"],
];

/** A file of a release of an upstream that is wanted. */
export interface WantedRelease {
  group: string;
  settings: UpstreamSettings;
  path: MavenPath & { kind: "file" };
  /** What is known of the POM of its release; undefined when nobody has read it. */
  pom: UpstreamPom | undefined;
}

const underWay = new Map<string, Promise<boolean>>();
const missing = createLru<string, number>(MAX_MISSING);

/**
 * Fetches a file and keeps it, with its release. False when the upstream does not have it. Throws 502 when it has
 * other sums than the upstream says, or is no POM of this release though it is called one, and 503. Concurrent calls
 * for one file are one.
 */
export async function fetchFile(exchange: LibraryExchange, wanted: WantedRelease): Promise<boolean> {
  const { uid, url } = wanted.settings;
  const { clock } = exchange.deps;
  const id = `${uid} ${url} ${placeOf(wanted.path)}`;
  if ((missing.get(id) ?? 0) > clock.monotonicMs()) return false;
  const running = underWay.get(id);
  if (running !== undefined) return await running;
  const started = fetchAlone(exchange, wanted).finally(() => underWay.delete(id));
  underWay.set(id, started);
  const isThere = await started;
  // Clients ask for signatures and sources of which there are none: the sums beside them are not asked for each time.
  if (!isThere) missing.set(id, clock.monotonicMs() + MISSING_MS);
  return isThere;
}

function placeOf(path: WantedRelease["path"]): string {
  return `${folderOf(path)}/${path.version}/${path.file}`;
}

async function fetchAlone(exchange: LibraryExchange, wanted: WantedRelease): Promise<boolean> {
  const { deps, ecosystem } = exchange;
  const { group, settings, path } = wanted;
  const place = placeOf(path);
  const name = nameOf(path);
  const isPom = endingOf(path.artifactId, path.version, path.file) === ".pom";
  return await upstreamsOf(exchange).files.fetch(settings, {
    key: place,
    url: urlOf(settings, place),
    expected: await sumsOf(exchange, settings, place),
    ...(isPom && { maxBytes: MAX_POM_BYTES }),
    isKept: () =>
      read(exchange, async ({ tx }) => {
        const artifact = await artifactNamed(tx, { group, ecosystem, normalized: name });
        return (
          artifact !== undefined && (await fileNamed(tx, artifact.uid, `${path.version}/${path.file}`)) !== undefined
        );
      }),
    async keep(blob, received, headers) {
      const { callData } = exchange;
      const nowMs = deps.clock.nowMs();
      const pom = isPom
        ? await readPom(exchange, Buffer.from(await deps.blobs.readWhole(blob.digest, blob.generation)), path)
        : wanted.pom;
      const publishMs = wanted.pom?.publishMs ?? lastModifiedMs(headers, nowMs) ?? nowMs;
      const input = fetchedFile(wanted, { blob, received, pom, publishMs, ecosystem: ecosystem.number });
      return await deps.transactor.write(keepFetchedFile, { ...callData, nowMs }, input);
    },
  });
}

/** What is kept of a file, and of its release when it is the first one of it. */
function fetchedFile(
  { group, path }: WantedRelease,
  {
    blob,
    received: { md5, sha1, sha512 },
    pom,
    publishMs,
    ecosystem,
  }: { blob: StoredBlob; received: ReceivedFile; pom: PomFacts | undefined; publishMs: number; ecosystem: number },
): FetchedFile {
  const { version, file } = path;
  const metadata: KeptMetadata = pom === undefined ? {} : { license: pom.license, parent: pom.parent };
  return {
    group,
    ecosystem,
    normalized: nameOf(path),
    name: nameOf(path),
    version: {
      version,
      sortKey: mavenKey(version),
      description: pom?.description ?? "",
      metadata: JSON.stringify(metadata),
      publishMs,
    },
    isPrerelease: isMavenPrerelease(version),
    file: { ...blob, name: `${version}/${file}`, md5, sha1, sha512 },
  };
}

async function readPom({ deps }: LibraryExchange, bytes: Buffer, path: WantedRelease["path"]): Promise<PomFacts> {
  const { groupId, artifactId, version } = path;
  try {
    return await deps.reading.run(
      "maven.pomFacts",
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
