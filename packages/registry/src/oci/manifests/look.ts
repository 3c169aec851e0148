import type { CallData } from "@moorage/kernel/core/call";
import { forEachConcurrently } from "@moorage/kernel/lib/for-each-concurrently";
import { copyOf, isIntact } from "../blobs/copies.ts";
import type { RegistryDeps } from "../request.ts";
import type { ParsedManifest } from "../formats/manifest.ts";

const LOOK_CONCURRENCY = 16;
// More than any image has layers; what a longer list has beyond it is looked at when it is pulled.
const MAX_LOOKS = 512;

/** Looks at the stored copies of the blobs that a pushed manifest refers to, and notes which are missing. */
export async function lookAt(
  { transactor, blobs }: Pick<RegistryDeps, "transactor" | "blobs">,
  data: CallData,
  { references }: Pick<ParsedManifest, "references">,
): Promise<void> {
  const digests = references.flatMap(({ digest, kind }) => (kind === "blob" ? [digest] : [])).slice(0, MAX_LOOKS);
  const copies = await transactor.read(data, async (call) => {
    const found = [];
    for (const digest of digests) found.push({ digest, copy: await copyOf(call, digest) });
    return found;
  });
  await forEachConcurrently(copies, LOOK_CONCURRENCY, async ({ digest, copy }) => {
    if (copy !== undefined) await isIntact({ blobs }, digest, copy);
  });
}
