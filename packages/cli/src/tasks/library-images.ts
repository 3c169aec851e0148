// `moorage libraries images`: which image tags contain a library, and since when.
import { textIn } from "../api/json-fields.ts";
import type { JsonObject, Query } from "../api/rest.ts";
import type { Listing } from "../output/listing.ts";
import { librariesNamed, libraryIn } from "./library-names.ts";
import { type ListFlags, printOrWatch, sizesOf } from "./lists.ts";
import { openSession, type Session } from "./session.ts";

export interface LibraryImagesFlags extends ListFlags {
  in?: string;
  ecosystem?: string;
}

const nameOf = (each: JsonObject): string => `${textIn(each, "image")}:${textIn(each, "tag")}`;

/** Tags as a table. */
const IMAGES: Listing = {
  field: "artifactImages",
  columns: [
    { header: "IMAGE", value: nameOf },
    { header: "PLATFORM", value: (each) => textIn(each, "platform") },
    { header: "VERSION", value: (each) => textIn(each, "version") },
    { header: "SINCE", kind: "time", value: (each) => textIn(each, "sinceTime") },
    { header: "DIGEST", wide: true, kind: "digest", value: (each) => textIn(each, "digest") },
    { header: "TAG POINTS TO", wide: true, kind: "digest", value: (each) => textIn(each, "tagDigest") },
    { header: "PURL", wide: true, value: (each) => textIn(each, "purl") },
  ],
  nameOf,
  idOf: (each) => textIn(each, "digest"),
};

/** Prints the tags that point to images with the library: by their names when the server has counted them. */
export async function printLibraryImages(
  library: string,
  { in: place, ecosystem, ...flags }: LibraryImagesFlags,
): Promise<void> {
  const session = await openSession(flags);
  const named = libraryIn(library);
  const found = await librariesNamed(session, named, ecosystem);
  const query: Query = {
    ...(named.version !== "" && { version: named.version }),
    ...(place !== undefined && { "uidp.descendants_of": await session.names.uidOf("group", place) }),
  };
  // Libraries of one name and ecosystem are in the same images, whichever groups they are in.
  const ecosystems = [...Map.groupBy(found, (each) => textIn(each, "ecosystem")).values()];
  const { limit, pageSize } = sizesOf(flags);
  const load = async function* (): AsyncGenerator<JsonObject> {
    let printed = 0;
    for (const [first] of ecosystems)
      for await (const each of first === undefined ? [] : imagesOf(session, textIn(first, "uid"), query, pageSize)) {
        if (printed === limit) return;
        printed += 1;
        yield each;
      }
  };
  await printOrWatch(load, IMAGES, flags, { pathOf: session.names.pathOf });
}

/** The server's order is that of digests. */
async function* imagesOf(
  { rest }: Session,
  artifact: string,
  query: Query,
  pageSize: number | undefined,
): AsyncGenerator<JsonObject> {
  let total: string | undefined;
  const pages = rest.list(`/libraries/v2/artifacts/${encodeURIComponent(artifact)}/images`, "artifactImages", {
    query,
    ...(pageSize !== undefined && { pageSize }),
    onTotal: (count) => (total = count),
  });
  const sorted: JsonObject[] = [];
  for await (const each of pages)
    if (total === undefined) yield each;
    else sorted.push(each);
  const key = (each: JsonObject): string =>
    [nameOf(each), textIn(each, "version"), textIn(each, "platform")].join("\n");
  yield* sorted.sort((one, other) => (key(one) < key(other) ? -1 : 1));
}
