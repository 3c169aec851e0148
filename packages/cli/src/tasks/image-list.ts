// `moorage images list`: tags, by the names that clients pull them by.
import { textIn } from "../api/json-fields.ts";
import { parentOf } from "../api/name-kinds.ts";
import { EXIT } from "../command/exit-codes.ts";
import { Failure } from "../command/failure.ts";
import type { PathOf } from "../api/uid-paths.ts";
import type { JsonObject, Query } from "../api/rest.ts";
import type { Listing } from "../output/listing.ts";
import { type ListFlags, printOrWatch, sizesOf } from "./lists.ts";
import { openSession, type Session } from "./session.ts";

/** The name that clients pull a tag by. */
export async function imageOfTag(tag: JsonObject, pathOf: PathOf): Promise<string> {
  return `${await pathOf(parentOf(textIn(tag, "uid")), "repo")}:${textIn(tag, "name")}`;
}

const IMAGES: Listing = {
  field: "tags",
  columns: [
    { header: "IMAGE", value: imageOfTag },
    { header: "DIGEST", kind: "digest", value: (tag) => textIn(tag, "digest") },
    { header: "MOVED", kind: "time", value: (tag) => textIn(tag, "updateTime") },
  ],
  nameOf: imageOfTag,
  idOf: (tag) => textIn(tag, "uid"),
};

/** Prints the tags of a repo, of a group and all groups below it, or all that the caller may list. */
export async function printImages(place: string | undefined, flags: ListFlags): Promise<void> {
  const session = await openSession(flags);
  const query = place === undefined ? {} : await scopeOf(session, place);
  let total: string | undefined;
  const load = (): AsyncIterable<JsonObject> =>
    session.rest.list("/registry/v2/tags", "tags", {
      query,
      ...sizesOf(flags),
      onTotal: (count) => (total = count),
    });
  await printOrWatch(load, IMAGES, flags, { pathOf: session.names.pathOf, totalCount: () => total });
}

/** A repo, or else a group: both have paths of one form. */
export async function scopeOf({ names }: Session, place: string): Promise<Query> {
  const repo = place.includes("/") ? await names.uidOf("repo", place).catch(ifMissing) : undefined;
  if (typeof repo === "string") return { "uidp.children_of": repo };
  const group = await names.uidOf("group", place).catch(ifMissing);
  if (typeof group === "string") return { "uidp.descendants_of": group };
  throw group.hint === undefined && repo !== undefined ? repo : group;
}

/** Keeps a failure that says that there is nothing of the name. */
function ifMissing(error: unknown): Failure {
  if (error instanceof Failure && error.exit === EXIT.notFound) return error;
  throw error;
}
