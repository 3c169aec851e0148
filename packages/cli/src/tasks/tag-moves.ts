// `moorage tags promote` and `moorage tags rollback`: tags that are moved together, shown before they are moved.
import { pin } from "../api/image-digest.ts";
import { parseTime } from "../api/image-reference.ts";
import { objectsIn, textIn } from "../api/json-fields.ts";
import type { Image } from "../api/names.ts";
import type { JsonObject } from "../api/rest.ts";
import { UsageFailure } from "../command/failure.ts";
import type { Listing } from "../output/listing.ts";
import { printItem, printList, printMessage } from "../output/output.ts";
import { unknownTexts } from "../resources/knowledge.ts";
import { confirm } from "../terminal/confirm.ts";
import { printsTables } from "./report.ts";
import { openSession, type Session, type TaskFlags } from "./session.ts";

export interface MoveFlags extends TaskFlags {
  dryRun?: boolean;
  yes?: boolean;
}

/** Tags of one repo that are moved together, by one method of the API. */
interface Plan {
  image: Image;
  /** The method below the repo's tags: `promote` or `rollback`. */
  method: "promote" | "rollback";
  /** The request's moves, each with the tag's `name`. */
  moves: JsonObject[];
}

const DIGEST = /^sha(?:256|512):/;
const DONE = { promote: "promoted", rollback: "rolled back" } as const;

/** Moves tags to the digest of another one: `promote acme/app:build-7 staging stable`. */
export async function promote(from: string, targets: readonly string[], flags: MoveFlags): Promise<void> {
  const session = await openSession(flags);
  const image = await session.names.imageOf(from);
  const { digest } = await pin(session, image);
  const names = await Promise.all(targets.map((text) => tagIn(session, image, text)));
  await move(session, { image, method: "promote", moves: names.map((name) => ({ name, digest })) }, flags);
}

/** Moves tags back: to what each pointed to before, or to a digest or time of its history. */
export async function rollback(
  first: string,
  others: readonly string[],
  { to, ...flags }: MoveFlags & { to?: string },
): Promise<void> {
  const session = await openSession(flags);
  const image = await session.names.imageOf(first);
  if (image.tag === undefined) throw new UsageFailure(`${first}: name the tag to move back, as ${image.name}:latest`);
  if (to !== undefined && (image.digest !== undefined || image.timeMs !== undefined))
    throw new UsageFailure(`${first}: names where to go back to, and so does --to`);
  const digest = to !== undefined && DIGEST.test(to) ? to : image.digest;
  const timeMs = to !== undefined && digest === undefined ? parseTime("--to", to) : image.timeMs;
  const names = [image.tag, ...(await Promise.all(others.map((text) => tagIn(session, image, text))))];
  const moves = names.map((name) => ({
    name,
    ...(digest !== undefined && { digest }),
    ...(timeMs !== undefined && { time: new Date(timeMs).toISOString() }),
  }));
  await move(session, { image, method: "rollback", moves }, flags);
}

/** Shows what would be moved, asks, and moves it if nobody else has moved one of the tags since. */
async function move({ rest, names }: Session, plan: Plan, flags: MoveFlags): Promise<void> {
  const { image, method } = plan;
  const path = `/registry/v2/tags/${image.repo}:${method}`;
  const field = `${method === "promote" ? "promotion" : "rollback"}s`;
  const before = await digestsOf(rest, image.repo, plan.moves);
  const moves = plan.moves.map((each) => ({ ...each, expectedDigest: before.get(textIn(each, "name")) ?? "" }));
  const send = (validateOnly: boolean): Promise<JsonObject> =>
    rest.call("POST", path, { body: { [field]: moves, validateOnly }, reads: validateOnly });
  const preview = await send(true);
  // What the repo's gate would let pass without knowing it: before anybody consents.
  const { unknownImages = [], staleFeeds = [] } = preview;
  for (const text of unknownTexts({ unknownImages, staleFeeds })) printMessage(`moorage: ${text}`);
  const listing = planListing(image.name, before);
  const shows = printsTables(flags);
  const changed = objectsIn(preview, "tags").filter((tag) => textIn(tag, "digest") !== before.get(textIn(tag, "name")));
  if (shows) await printList(each(objectsIn(preview, "tags")), listing, flags, { pathOf: names.pathOf });
  const count = changed.length === 1 ? `tag ${textIn(changed[0], "name")}` : `${changed.length} tags`;
  if (flags.dryRun === true) {
    if (!shows) return printItem(preview, listing, flags);
    return printMessage(changed.length === 0 ? "nothing would change" : `dry run: nothing was moved`);
  }
  if (changed.length === 0) {
    if (!shows) return printItem(preview, listing, flags);
    return printMessage("nothing to do: they point there already");
  }
  const verb = method === "promote" ? "Moves" : "Moves back";
  if (!(await confirm(`${verb} ${count} of ${image.name}.`, flags))) return printMessage("nothing was moved");
  const answer = await send(false);
  if (!shows) return printItem(answer, listing, flags);
  printMessage(`${DONE[method]} ${count} of ${image.name}`);
}

function planListing(name: string, before: ReadonlyMap<string, string>): Listing {
  const nowOf = (tag: JsonObject): string => before.get(textIn(tag, "name")) ?? "";
  const isSame = (tag: JsonObject): boolean => nowOf(tag) === textIn(tag, "digest");
  return {
    field: "tags",
    columns: [
      { header: "TAG", value: (tag) => textIn(tag, "name") },
      { header: "FROM", kind: "digest", value: (tag) => nowOf(tag) },
      {
        header: "TO",
        kind: "digest",
        value: (tag) => textIn(tag, "digest"),
        color: (tag) => (isSame(tag) ? "dim" : "green"),
      },
      { header: "", value: (tag) => (isSame(tag) ? "unchanged" : nowOf(tag) === "" ? "new" : "") },
    ],
    nameOf: (tag) => `${name}:${textIn(tag, "name")}`,
    idOf: (tag) => textIn(tag, "uid"),
  };
}

async function digestsOf(
  rest: Session["rest"],
  repo: string,
  moves: readonly JsonObject[],
): Promise<Map<string, string>> {
  const tags = await Promise.all(
    moves.map(async (each) => {
      const query = { name: textIn(each, "name"), "uidp.children_of": repo, page_size: 1 };
      return objectsIn(await rest.call("GET", "/registry/v2/tags", { query }), "tags");
    }),
  );
  return new Map(tags.flat().map((tag) => [textIn(tag, "name"), textIn(tag, "digest")]));
}

/** A tag of the repo, by its name alone, `:name`, or with the image in front. */
async function tagIn({ names }: Session, image: Image, text: string): Promise<string> {
  if (!text.includes("/") && !text.includes("@")) return text.replace(/^:/, "");
  const { repo, tag, digest, timeMs } = await names.imageOf(text);
  if (repo !== image.repo) throw new UsageFailure(`${text}: is of another repo than ${image.name}`);
  if (tag === undefined || digest !== undefined || timeMs !== undefined)
    throw new UsageFailure(`${text}: must be a tag, as ${image.name}:stable or stable`);
  return tag;
}

async function* each(items: readonly JsonObject[]): AsyncGenerator<JsonObject> {
  yield* items;
}
