// What the processes do that read the layers of images and what is attached to them. It blocks for long, may take too
// much memory, and may have to be killed.
import { trustAuthorities } from "@moorage/kernel/lib/authorities";
import { type BlobStore, openBlobs } from "@moorage/kernel/blobs";
import { serveTasks } from "@moorage/kernel/lib/process-pool/child";
import type { AttachedLayer } from "../attached/types.ts";
import { blobBytes } from "../catalog/blob-bytes.ts";
import { catalogImage } from "../catalog/catalog-image.ts";
import type { ReadCatalog, ReadDocuments, ReaderData } from "./image-reader.ts";
import { partsOf } from "../catalog/parts.ts";
import type { StoredLayer } from "../catalog/queue.ts";

let opened: Promise<BlobStore> | undefined;

/** The store, which these processes only read. A store that could not be opened is opened again for the next. */
async function blobsOf({ dataDir, blobsUrl, caFile }: ReaderData): Promise<BlobStore> {
  if (caFile !== "") trustAuthorities(caFile);
  opened ??= openBlobs({ dataDir, blobsUrl, diskReserveBytes: 0 });
  try {
    return await opened;
  } catch (error) {
    opened = undefined;
    throw error;
  }
}

async function readImage(
  { layers, tempDir }: { layers: StoredLayer[]; tempDir: string },
  data: ReaderData,
): Promise<ReadCatalog> {
  const blobs = await blobsOf(data);
  const readable = layers.map((layer) => ({ digest: layer.digest, open: () => blobBytes(blobs, layer) }));
  const { os, components, unread } = await catalogImage({ layers: readable, tempDir });
  return { os, unread, parts: partsOf(components) };
}

async function readDocuments(
  { subject, attached }: { subject: string; attached: AttachedLayer[] },
  data: ReaderData,
): Promise<ReadDocuments> {
  const blobs = await blobsOf(data);
  // Loaded at first use: most images have nothing attached.
  const { readAttached } = await import("../attached/read-attachment.ts");
  const documents = await readAttached(subject, attached, (layer) => blobBytes(blobs, layer));
  return {
    documents: documents.map(({ components, statements, ...rest }) => ({
      document: { ...rest, packages: components.length, statements: statements.length },
      componentParts: partsOf(components),
      statementParts: partsOf(statements),
    })),
  };
}

serveTasks({ readImage, readDocuments });
