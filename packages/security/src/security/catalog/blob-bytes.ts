import type { BlobStore } from "@moorage/kernel/blobs";
import type { StoredLayer } from "./queue.ts";

/** A piece of the blob that was not taken yet, or whose taker has not come back for the next one. */
interface Piece {
  bytes: Buffer;
  taken: PromiseWithResolvers<void>;
}

/**
 * The bytes of a blob, in pieces whose memory is not used again. Only so many are read ahead as the store sends without
 * waiting: a few.
 */
export async function* blobBytes(blobs: Pick<BlobStore, "readAll">, layer: StoredLayer): AsyncGenerator<Buffer> {
  if (layer.size === 0) return;
  const pieces: Piece[] = [];
  let arrived = Promise.withResolvers<void>();
  let end: { error?: unknown } | undefined;
  let isLeft = false;
  const ended = (by: { error?: unknown }): void => {
    end = by;
    arrived.resolve();
  };
  const reading = blobs
    .readAll(layer, async (chunk) => {
      if (isLeft) throw notNeeded();
      const taken = Promise.withResolvers<void>();
      // The store uses the memory again once it is taken; whoever takes it may hold parts of it longer.
      pieces.push({ bytes: Buffer.from(chunk), taken });
      arrived.resolve();
      await taken.promise;
    })
    .then(
      () => ended({}),
      (error: unknown) => ended({ error }),
    );
  try {
    for (;;) {
      const [piece] = pieces;
      if (piece !== undefined) {
        yield piece.bytes;
        pieces.shift();
        piece.taken.resolve();
      } else if (end === undefined) {
        await arrived.promise;
        arrived = Promise.withResolvers();
      } else if ("error" in end) throw end.error;
      else return;
    }
  } finally {
    isLeft = true;
    for (const { taken } of pieces) taken.reject(notNeeded());
    await reading;
  }
}

const notNeeded = (): Error => new Error("the rest is not needed");
