import { parentPort, workerData } from "node:worker_threads";
import { type BlobStore, openBlobs } from "../../blobs/index.ts";
import type { AttachedDocument, AttachedLayer } from "../attached/types.ts";
import { blobBytes } from "./blob-bytes.ts";
import { catalogImage } from "./catalog-image.ts";
import type { StoredLayer } from "./queue.ts";
import { type Catalog, CatalogError } from "./types.ts";

/** What the thread is started with: where blobs are. */
export interface CatalogThreadData {
  dataDir: string;
  blobsUrl: string;
  diskReserveBytes: number;
}

/** An image to read. `tempDir`: a folder for its temporary files, which whoever asks removes. */
export interface ReadImage {
  layers: StoredLayer[];
  tempDir: string;
}

/** Documents to read, as those about `subject`. */
export interface ReadAttached {
  subject: string;
  attached: AttachedLayer[];
}

/** Why something could not be read. `isFinal`: it would fail again. */
export interface NotRead {
  reason: string;
  isFinal: boolean;
}

/** What the thread answers to each of the two. */
export type CatalogAnswer = { catalog: Catalog } | { documents: AttachedDocument[] } | NotRead;

/** Answers each ReadImage and ReadAttached that the thread is sent with a CatalogAnswer. */
export async function answerRequests(): Promise<void> {
  const blobs = await openBlobs(workerData as CatalogThreadData);
  parentPort?.on("message", (request: ReadImage | ReadAttached) => {
    void read(blobs, request).then((answer) => parentPort?.postMessage(answer));
  });
}

async function read(blobs: BlobStore, request: ReadImage | ReadAttached): Promise<CatalogAnswer> {
  try {
    if ("attached" in request) {
      // Loaded at first use: most images have nothing attached.
      const { readAttached } = await import("../attached/read-attached.ts");
      const { subject, attached } = request;
      return { documents: await readAttached(subject, attached, (layer) => blobBytes(blobs, layer)) };
    }
    const { layers, tempDir } = request;
    const opened = layers.map((layer) => ({ digest: layer.digest, open: () => blobBytes(blobs, layer) }));
    return { catalog: await catalogImage({ layers: opened, tempDir }) };
  } catch (error) {
    return { reason: (error as Error).message, isFinal: error instanceof CatalogError };
  }
}
