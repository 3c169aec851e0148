// `moorage images size`: how many bytes a pull moves.
import { pin } from "../api/image-digest.ts";
import { numberIn, textIn, textsIn } from "../api/json-fields.ts";
import type { Listing } from "../output/listing.ts";
import { printList } from "../output/output.ts";
import { openSession, type TaskFlags } from "./session.ts";

const SIZES: Listing = {
  field: "sizes",
  columns: [
    { header: "ARCHITECTURE", value: (each) => textIn(each, "architecture") },
    { header: "SIZE", kind: "bytes", right: true, value: (each) => textIn(each, "size") },
    { header: "BYTES", right: true, wide: true, value: (each) => String(numberIn(each, "size")) },
  ],
  nameOf: (each) => textIn(each, "architecture"),
  idOf: (each) => textIn(each, "architecture"),
};

/** Prints the size of an image for each architecture: its configuration and layers, compressed. */
export async function printSizes(reference: string, flags: TaskFlags): Promise<void> {
  const session = await openSession(flags);
  const { repo, digest } = await pin(session, await session.names.imageOf(reference));
  const path = `/registry/v2/repos/${repo}/digests/${digest}`;
  const architectures = textsIn(await session.rest.call("GET", `${path}/architectures`), "architectures");
  const sizes = async function* () {
    // One request after the other: an index names few of them.
    for (const architecture of architectures.length === 0 ? [""] : architectures)
      yield session.rest.call("GET", `${path}/size`, { query: { ...(architecture !== "" && { architecture }) } });
  };
  await printList(sizes(), SIZES, flags);
}
