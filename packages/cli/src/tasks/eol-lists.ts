import { objectIn, objectsIn, textIn, wordIn } from "../api/json-fields.ts";
import { timeOfFlag } from "../api/time-flags.ts";
import { UsageFailure } from "../command/failure.ts";
import type { JsonObject } from "../api/rest.ts";
import type { Listing } from "../output/listing.ts";
import { printMessage } from "../output/output.ts";
import { namedBy } from "../sign-ins.ts";
import { staleText } from "../resources/knowledge.ts";
import { imageOfTag, scopeOf } from "./image-list.ts";
import { printReport, printsTables } from "./report.ts";
import { type ListFlags, printOrWatch, sizesOf } from "./lists.ts";
import { openSession, type Session } from "./session.ts";

export interface EolFlags extends ListFlags {
  tag?: string;
  asOf?: string;
  product?: string;
}

const TAGS: Listing = {
  field: "eolTags",
  columns: [
    { header: "IMAGE", flexible: true, value: imageOfTag },
    { header: "PRODUCT", value: (tag) => textIn(tag, "product") },
    { header: "VERSION", value: (tag) => textIn(tag, "version") },
    {
      header: "END OF LIFE",
      value: (tag) => textIn(objectIn(tag, "release"), "eolDate") || "ended",
      color: (tag) => (wordIn(tag, "status", "EOL_TAG_STATUS_") === "inactive" ? "red" : "yellow"),
    },
    { header: "LATEST", value: (tag) => textIn(objectIn(tag, "release"), "latestVersion") },
    { header: "STATUS", value: (tag) => wordIn(tag, "status", "EOL_TAG_STATUS_") },
    { header: "GRACE ENDS", wide: true, value: (tag) => textIn(tag, "graceExpireTime") },
    { header: "DIGEST", wide: true, value: (tag) => textIn(tag, "digest") },
    { header: "FEED", wide: true, value: (tag) => textIn(objectIn(tag, "feed"), "name") },
  ],
  nameOf: imageOfTag,
  idOf: (tag) => textIn(tag, "uid"),
};

const RELEASES: Listing = {
  field: "versions",
  columns: [
    { header: "RELEASE", value: (each) => textIn(each, "version") },
    { header: "SINCE", value: (each) => textIn(each, "releaseDate") },
    {
      header: "END OF LIFE",
      value: (each) => textIn(each, "eolDate") || (each["eol"] === true ? "ended" : ""),
      color: (each) => (each["eol"] === true ? "red" : undefined),
    },
    { header: "LATEST", value: (each) => textIn(each, "latestVersion") },
    { header: "LTS", value: (each) => (each["lts"] === true ? "yes" : "") },
  ],
  nameOf: (each) => textIn(each, "version"),
  idOf: (each) => textIn(each, "version"),
};

/** Prints the tags past their end of life of a repo, a group or all; or the releases of a product. */
export async function printEol(place: string | undefined, flags: EolFlags): Promise<void> {
  const session = await openSession(flags);
  if (flags.product !== undefined) {
    if (place !== undefined)
      throw new UsageFailure(`${place}: a product has the same releases everywhere: leave it out`);
    if (flags.watch === true) throw new UsageFailure("--watch: the releases of a product are not watched");
    return printReleases(session, flags.product, flags);
  }
  const where = place ?? namedBy(flags).context?.group;
  const query = {
    ...(where !== undefined && where !== "/" && (await scopeOf(session, where))),
    ...(flags.tag !== undefined && { name: flags.tag }),
    ...(flags.asOf !== undefined && { as_of: new Date(timeOfFlag("--as-of", flags.asOf).lastMs).toISOString() }),
  };
  const load = (): AsyncGenerator<JsonObject> =>
    session.rest.list("/registry/v2/eolTags", "eolTags", { query, ...sizesOf(flags) });
  if (flags.watch !== true) await printStale(session, query);
  if (flags.watch === true || !printsTables(flags))
    return printOrWatch(load, TAGS, flags, { pathOf: session.names.pathOf });
  const tags = load();
  const first = await tags.next();
  if (first.done === true) return printMessage("no tag is known to be past its end of life");
  const all = async function* () {
    yield first.value;
    yield* tags;
  };
  await printOrWatch(all, TAGS, flags, { pathOf: session.names.pathOf });
}

/** Says on standard error which feeds of ends of life are older than their own interval. */
async function printStale({ rest }: Session, query: Readonly<Record<string, string>>): Promise<void> {
  const page = await rest.call("GET", "/registry/v2/eolTags", { query: { ...query, page_size: 1 } });
  const stale = staleText(objectsIn(page, "staleFeeds"));
  if (stale !== "") printMessage(`moorage: ${stale}`);
}

async function printReleases({ rest }: Session, product: string, flags: EolFlags): Promise<void> {
  const path = product.split("/").map(encodeURIComponent).join("/");
  const answer = await rest.call("GET", `/registry/v2/versions/${path}`);
  const stale = staleText(objectsIn(answer, "staleFeeds"));
  if (stale !== "") printMessage(`moorage: ${stale}`);
  const releases = [...objectsIn(answer, "versions"), ...objectsIn(answer, "eolVersions")];
  await printReport({ item: answer, listing: RELEASES, text: (pen) => pen.table(RELEASES.columns, releases) }, flags);
}
