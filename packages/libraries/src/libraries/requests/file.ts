import type { StoredBlob } from "@moorage/kernel/blobs";
import type { Awaitable } from "@moorage/kernel/lib/awaitable";
import type { Row } from "@moorage/kernel/store";
import { artifactNamed } from "../artifacts/names.ts";
import { fileNamed, type VisibleFile } from "../artifacts/visible.ts";
import type { NewFile } from "../artifacts/write.ts";
import { libraryError } from "../http/errors.ts";
import type { DownloadedVersion } from "../downloads/parts.ts";
import type { ReceivedFile } from "../http/receive.ts";
import type { VersionFacts } from "../policies/judge.ts";
import { type FetchedFile, keepFetchedFile } from "../upstreams/commands.ts";
import type { WantedFile } from "../upstreams/files.ts";
import type { UpstreamSettings } from "../upstreams/settings.ts";
import { requireOpen } from "./check.ts";
import { type LibraryExchange, read, upstreamsOf } from "./exchange.ts";
import { type Named, resolve, type Resolved } from "./resolve.ts";

// The order in which a file is read, the same for all ecosystems: what its name means; the file that is here, judged
// and sent; or what the upstream offers under its name: judged, fetched, checked, kept, judged as it is kept, and sent.

/** What is known of a file whose upstream is asked for it. */
export interface Asked extends Resolved {
  settings: UpstreamSettings;
}

/** A file that has come from the upstream, with the right sums. */
export interface ArrivedFile {
  stored: StoredBlob;
  received: ReceivedFile;
  headers: Parameters<WantedFile["keep"]>[2];
  /** When it came, in milliseconds since 1970. */
  nowMs: number;
}

/** What is kept of a file that has come, and of its version. */
export interface KeptFile {
  /** As the artifact's publisher writes it. Defaults to the name that was asked for. */
  name?: string;
  /** What is kept of the version; undefined for a file that makes no version. */
  version?: { version: string; description: string; metadata: string; publishMs?: number };
  /** What clients read of the file, as JSON. Defaults to none. */
  metadata?: string;
  /** Of which version it is, for the order of versions. */
  of: string;
}

/** A file that the upstream offers. */
export interface OfferedFile {
  /** What its version is judged by before it is fetched. Asked only where something is judged. */
  facts(): Awaitable<VersionFacts>;
  wanted: Omit<WantedFile, "isKept" | "keep">;
  /** What is kept of it. Throws 502 for what is not what it is called. */
  kept(arrived: ArrivedFile): Promise<KeptFile>;
  /** The message for where the upstream offers it and does not have it. */
  gone: string;
}

/** A file that a client asks for. */
interface FileSteps {
  named: Named;
  /** What it is called among the files of the artifact. */
  file: string;
  /** The message for where nobody has it. */
  missing: string;
  /** What a file that is here is judged by; undefined where nothing is known. Asked only where something is judged. */
  facts(resolved: Resolved, kept: VisibleFile): Awaitable<VersionFacts | undefined>;
  /** What the upstream offers under its name; undefined for nothing. Throws 502 and 503. */
  offer(asked: Asked): Promise<OfferedFile | undefined>;
  send(file: Row<"artifact_files">): Promise<void> | void;
}

/**
 * Answers with a file, which comes from the upstream the first time. Throws 403 without the right to read and for a
 * version that is blocked, 404 for one that is not there, and 502 and 503 when the upstream fails.
 */
export async function answerFile(exchange: LibraryExchange, steps: FileSteps): Promise<void> {
  const { named, file, missing } = steps;
  const lookUp = (): Promise<Resolved & { kept: VisibleFile | undefined }> =>
    read(exchange, async (call) => {
      const resolved = await resolve(call, exchange, named);
      const { artifact } = resolved;
      return { ...resolved, kept: artifact && (await fileNamed(call.tx, artifact.uid, file)) };
    });
  let found = await lookUp();
  let isNoted = false;
  if (found.kept === undefined) {
    const { settings } = found;
    if (settings === undefined) throw libraryError(404, missing);
    isNoted = await fetchFile(exchange, steps, { ...found, settings });
    found = await lookUp();
  }
  const { kept, gate } = found;
  if (kept === undefined) throw libraryError(404, missing);
  // Also of a file that has just come: what is in it may say more than its upstream did. Each request is noted once.
  if (!isNoted && gate.mode !== "none") {
    const facts = await steps.facts(found, kept);
    if (facts !== undefined) requireOpen(exchange, gate, facts);
  }
  exchange.download = downloadOf(exchange, kept);
  await steps.send(kept.file);
}

/** What a file counts as a download of. */
function downloadOf({ ecosystem }: LibraryExchange, { file, version }: VisibleFile): DownloadedVersion | undefined {
  if (version === undefined || ecosystem.downloads?.counts(file) === false) return undefined;
  return { artifact: file.artifact, version: version.uid };
}

/** Fetches a file, once, and keeps it. Answers whether something is against it and was noted, in a preview. */
async function fetchFile(exchange: LibraryExchange, steps: FileSteps, asked: Asked): Promise<boolean> {
  const { deps, ecosystem, callData } = exchange;
  const { named, file, missing } = steps;
  const { gate, group, settings } = asked;
  const { normalized } = named;
  const offered = await steps.offer(asked);
  if (offered === undefined) throw libraryError(404, missing);
  const isNoted = gate.mode !== "none" && requireOpen(exchange, gate, await offered.facts());
  const isThere = await upstreamsOf(exchange).files.fetch(settings, {
    ...offered.wanted,
    isKept: () =>
      read(exchange, async ({ tx }) => {
        const artifact = await artifactNamed(tx, { group, ecosystem, normalized });
        return artifact !== undefined && (await fileNamed(tx, artifact.uid, file)) !== undefined;
      }),
    async keep(stored, received, headers) {
      const nowMs = deps.clock.nowMs();
      const kept = await offered.kept({ stored, received, headers, nowMs });
      const { md5, sha1, sha512 } = received;
      const newFile = { ...stored, name: file, md5, sha1, sha512, ...(kept.metadata && { metadata: kept.metadata }) };
      return await deps.transactor.write(
        keepFetchedFile,
        { ...callData, nowMs },
        fetchedFile(exchange, { ...asked, kept, file: newFile }),
      );
    },
  });
  if (!isThere) throw libraryError(404, offered.gone);
  return isNoted;
}

function fetchedFile(
  { ecosystem: { number, versions } }: LibraryExchange,
  { group, named, kept, file }: Asked & { kept: KeptFile; file: NewFile },
): FetchedFile {
  const { version } = kept;
  const cuda = versions.cuda?.(kept.of);
  return {
    group,
    ecosystem: number,
    normalized: named.normalized,
    name: kept.name ?? named.name,
    isPrerelease: versions.isPrerelease(kept.of),
    ...(version !== undefined && {
      version: { ...version, sortKey: versions.sortKey(version.version), ...(cuda !== undefined && { cuda }) },
    }),
    file,
  };
}
