import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { processPool, TaskError, type TaskErrorKind } from "@moorage/kernel/lib/process-pool";
import { programFile } from "@moorage/kernel/lib/program-file";
import { makeTempFolder, type TempFolder } from "@moorage/kernel/lib/temp-folders";
import type { FinishedDocument } from "../attached/queue.ts";
import type { AttachedLayer } from "../attached/types.ts";
import type { Parts } from "../catalog/parts.ts";
import type { StoredLayer } from "../catalog/queue.ts";
import type { Catalog, NotRead } from "../catalog/types.ts";

/** Where blobs are: all that the reading processes know of the server. */
export interface ReaderData {
  dataDir: string;
  blobsUrl: string;
  /** Authorities that its S3 server may have its certificate of, PEM; empty for those of Node. */
  caFile: string;
}

export interface ImageReaderDeps {
  config: ReaderData & { catalogTimeoutMs: number };
  /** Called when a reading process ended that should not have, or had to be killed. */
  died(reason: string, kind: TaskErrorKind): void;
}

/** A catalog whose components are in parts. */
export interface ReadCatalog extends Omit<Catalog, "components"> {
  parts: Parts;
}

/** An attached document, with its packages and statements in parts. */
export interface ReadDocument {
  document: FinishedDocument;
  componentParts: Parts;
  statementParts: Parts;
}

export interface ReadDocuments {
  documents: ReadDocument[];
}

/**
 * Reads images and what is attached to them, in processes of their own: one for what is read the first time, another
 * for what is read again. They start when there is something to read, and end when there was nothing for a while. A
 * reading that takes too long is killed with its process, as is one whose `signal` is aborted; that answers undefined.
 */
export interface ImageReader {
  /** Reads the layers of an image. `isAgain`: it was attempted before. */
  read(layers: StoredLayer[], options: ReadOptions): Promise<ReadCatalog | NotRead | undefined>;
  /** Reads documents, as those about `subject`. */
  readAttached(
    subject: string,
    attached: AttachedLayer[],
    options: ReadOptions,
  ): Promise<ReadDocuments | NotRead | undefined>;
  /** Kills the processes; waits for each a second at most. */
  stop(): Promise<void>;
}

interface ReadOptions {
  signal: AbortSignal;
  isAgain: boolean;
}

const MAX_HEAP_MIB = 1_024;
const PROCESSES = 2;
// It takes longer to start a process than to read a small image, and its memory is not needed while no images come.
const IDLE_MS = 30_000;

/**
 * How long the first reading of an image may take at most, in milliseconds: images that were not attempted yet wait for
 * it. Later ones take their time beside these.
 */
const FIRST_TIMEOUT_MS = 60_000;
const LOWEST_PRIORITY = 19;

/** What the client of S3 reads from the environment: its credentials and whom it trusts. */
const S3_ENVIRONMENT = ["PATH", "HOME", "NODE_EXTRA_CA_CERTS", "NODE_USE_SYSTEM_CA", "SSL_CERT_FILE", "SSL_CERT_DIR"];

export function imageReader({ config, died }: ImageReaderDeps): ImageReader {
  const { dataDir, blobsUrl, caFile, catalogTimeoutMs } = config;
  const data: ReaderData = { dataDir, blobsUrl, caFile };
  const pool = processPool({
    module: programFile("reader-tasks", import.meta.url),
    size: PROCESSES,
    maxHeapMiB: MAX_HEAP_MIB,
    idleMs: IDLE_MS,
    maxWaiting: PROCESSES,
    niceness: LOWEST_PRIORITY,
    environment: blobsUrl === "" ? [] : s3Environment(),
    data,
    onDeath: died,
  });
  let temp: TempFolder | undefined;
  const answerOf = async <Output>(
    task: string,
    input: object,
    { signal, isAgain }: ReadOptions,
  ): Promise<Output | NotRead | undefined> => {
    const timeoutMs = isAgain ? catalogTimeoutMs : Math.min(catalogTimeoutMs, FIRST_TIMEOUT_MS);
    try {
      return await pool.run<Output>(task, input, { timeoutMs, signal });
    } catch (error) {
      if (!(error instanceof TaskError)) throw error;
      return error.kind === "aborted" ? undefined : notRead(error, timeoutMs);
    }
  };
  return {
    async read(layers, options) {
      let tempDir: string;
      try {
        temp ??= makeTempFolder("catalog");
        tempDir = await mkdtemp(join(temp.path, "image-"));
      } catch (error) {
        return { reason: `the folder for temporary files cannot be used: ${(error as Error).message}`, isFinal: false };
      }
      try {
        return await answerOf<ReadCatalog>("readImage", { layers, tempDir }, options);
      } finally {
        // What cannot be removed now is, with all of `temp`, when the server stops or starts again.
        await rm(tempDir, { recursive: true, force: true }).catch(() => {});
      }
    },
    readAttached: (subject, attached, options) =>
      answerOf<ReadDocuments>("readDocuments", { subject, attached }, options),
    async stop() {
      await pool.stop();
      await temp?.remove();
    },
  };
}

/** Why there is no answer, as it is stored with the image. */
function notRead({ kind, message, isFinal }: TaskError, timeoutMs: number): NotRead {
  if (kind === "timeout")
    return { reason: `reading it took longer than ${timeoutMs} ms`, isFinal: false, isSoon: true };
  if (kind === "memory") return { reason: "reading it took more memory than the process may have", isFinal: true };
  if (kind === "died") return { reason: `the process that read it ended: ${message}`, isFinal: false, isSoon: true };
  return { reason: message, isFinal };
}

function s3Environment(): string[] {
  return [...S3_ENVIRONMENT, ...Object.keys(process.env).filter((name) => name.startsWith("AWS_"))];
}
