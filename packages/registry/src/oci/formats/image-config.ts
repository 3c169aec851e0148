import { type BlobStore, readInto } from "@moorage/kernel/blobs";
import type { Call, CallData } from "@moorage/kernel/core/call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { type ImageConfig, imageConfigIn, MAX_CONFIG_BYTES, NO_CONFIG } from "../../registry/index.ts";
import { findBlob } from "../find-blob.ts";
import type { ParsedManifest } from "./manifest.ts";

/**
 * What the configuration of a pushed image says, to be stored with it. `repoOf` answers the uid of the repo, if it
 * exists. Undefined for an index, and when the repo does not hold the configuration, which rejects the push later.
 */
export async function imageConfigOf(
  { transactor, blobs }: { transactor: Transactor; blobs: Pick<BlobStore, "readWhole" | "readAll"> },
  data: CallData,
  { image }: ParsedManifest,
  repoOf: (call: Call) => Promise<string | undefined>,
): Promise<ImageConfig | undefined> {
  if (image === undefined) return undefined;
  const { config: digest } = image;
  const blob = await transactor.read(data, async (call) => {
    const repo = await repoOf(call);
    return repo === undefined ? undefined : findBlob(call, repo, digest);
  });
  if (blob === undefined) return undefined;
  if (blob.size > MAX_CONFIG_BYTES) return NO_CONFIG;
  try {
    return imageConfigIn(await readInto(blobs, { digest, ...blob }));
  } catch (error) {
    // It was deleted between the look-up and the opening of the file, or what is stored is not it.
    if (error instanceof MoorageError && (error.code === Code.NotFound || error.code === Code.DataLoss))
      return undefined;
    throw error;
  }
}
