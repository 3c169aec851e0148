// `moorage images base`: which images an image was built on.
import { pin } from "../api/image-digest.ts";
import { numberIn, objectsIn, textIn, textsIn } from "../api/json-fields.ts";
import type { Listing } from "../output/listing.ts";
import { printList, printMessage } from "../output/output.ts";
import { printsTables } from "./report.ts";
import { openSession, type TaskFlags } from "./session.ts";

const IMAGES: Listing = {
  field: "images",
  columns: [
    { header: "IMAGE", value: (each) => textIn(each, "image"), flexible: true },
    { header: "TAGS", value: (each) => textsIn(each, "tags").join(", "), flexible: true },
    { header: "STATED", value: (each) => (each["stated"] === true ? "yes" : "") },
    { header: "DIGEST", kind: "digest", value: (each) => textIn(each, "digest") },
  ],
  nameOf: (each) => `${textIn(each, "image")}@${textIn(each, "digest")}`,
  idOf: (each) => textIn(each, "digest"),
};

/** Prints the images whose layers are the first ones of the image, and what it states itself. */
export async function printBase(reference: string, flags: TaskFlags & { architecture?: string }): Promise<void> {
  const session = await openSession(flags);
  const { repo, digest } = await pin(session, await session.names.imageOf(reference));
  const { architecture } = flags;
  const query = architecture === undefined ? {} : { architecture };
  const answer = await session.rest.call("GET", `/registry/v2/repos/${repo}/digests/${digest}/base`, { query });
  const found = objectsIn(answer, "images");
  const { images: _, ...behind } = answer;
  const items = async function* () {
    yield* found;
  };
  if (found.length > 0 || !printsTables(flags)) await printList(items(), IMAGES, flags, { behind: () => behind });
  const stated = [textIn(answer, "statedName"), textIn(answer, "statedDigest")].filter(Boolean).join(" ");
  const layers = numberIn(answer, "layerCount");
  if (stated !== "") printMessage(`moorage: ${reference} states that it was built on ${stated}`);
  if (found.length > 0) printMessage(`moorage: its first ${layers} layers are all the layers of these images`);
  else if (stated !== "") printMessage("moorage: no image that you may list has its first layers");
  else
    printMessage(
      `moorage: ${reference}: its base is not known: it states none, and no image that you may list has its first layers`,
    );
  if (answer["incomplete"] === true)
    printMessage("moorage: more images share its layers than were compared: its base may be another one");
}
