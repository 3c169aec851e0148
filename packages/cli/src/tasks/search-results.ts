import { textIn, wordIn } from "../api/json-fields.ts";
import type { JsonObject } from "../api/rest.ts";
import type { Listing } from "../output/listing.ts";
import { namedBy } from "../sign-ins.ts";
import { type ListFlags, printOrWatch, sizesOf } from "./lists.ts";
import { openSession } from "./session.ts";

export interface SearchFlags extends ListFlags {
  in?: string;
  kind?: string[];
}

const RESULTS: Listing = {
  field: "results",
  columns: [
    { header: "KIND", value: kindOf },
    { header: "IMAGE", value: imageOf },
    { header: "DIGEST", kind: "digest", wide: true, value: (each) => textIn(each, "digest") },
    { header: "FOUND", flexible: true, value: foundIn },
    { header: "CHANGED", kind: "time", value: (each) => textIn(each, "updateTime") },
  ],
  nameOf: imageOf,
  idOf: (each) => textIn(each, "tagUid") || textIn(each, "repoUid"),
};

function kindOf(result: JsonObject): string {
  return wordIn(result, "kind", "SEARCH_KIND_");
}

function imageOf(result: JsonObject): string {
  const [name, tag, digest] = [textIn(result, "name"), textIn(result, "tag"), textIn(result, "digest")];
  if (tag !== "") return `${name}:${tag}`;
  return digest === "" ? name : `${name}@${digest.slice(0, "sha256:".length + 12)}`;
}

/** What has the text, where the image's name does not show it. */
function foundIn(result: JsonObject): string {
  const key = textIn(result, "labelKey");
  return key === "" ? "" : `${key}=${textIn(result, "labelValue")}`;
}

/** Prints what is found, by kinds: repos, tags, digests, labels. */
export async function printResults(text: string, { in: place, kind, ...flags }: SearchFlags): Promise<void> {
  const session = await openSession(flags);
  const group = place ?? namedBy(flags).context?.group;
  const query = {
    query: text,
    ...(group !== undefined && group !== "/" && { "uidp.descendants_of": await session.names.uidOf("group", group) }),
    ...(kind !== undefined && { kinds: kind.map((each) => each.toUpperCase()) }),
  };
  const load = (): AsyncIterable<JsonObject> =>
    session.rest.list("/registry/v2/search", "results", { query, ...sizesOf(flags) });
  await printOrWatch(load, RESULTS, flags);
}
