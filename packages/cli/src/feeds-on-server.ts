// `moorage feeds` for a server over its API: what an operator of the installation may do from anywhere.
import { presetsOfWords } from "@moorage/security/preset-words";
import { numberIn, objectsIn, textIn, textsIn } from "./api/json-fields.ts";
import { type JsonObject, openRest, type RestClient } from "./api/rest.ts";
import { durationOfFlag } from "./command/duration.ts";
import { UsageFailure } from "./command/failure.ts";
import type { ServerFlags } from "./command/global-options.ts";
import { untilFetched, untilRemoved } from "./feed-progress.ts";
import { counted, problemsInJson, type Problem } from "./feed-lines.ts";
import { acceptedOf, type PlannedFeedView } from "./feed-plan.ts";
import type { OtherPlace } from "./feed-presets.ts";
import { type FeedView, millisecondsOf, viewOfJson } from "./feed-view.ts";
import { plain } from "./printable.ts";

const FEEDS = "/operations/v2/feeds";
const DEFAULT_INTERVAL_MS = 6 * 3_600_000;

/** How a command waits for what the server does by itself. */
export interface Waiting {
  /** Whether somebody has said yes already. */
  yes: boolean;
  /** Whether to wait until the server has done it. */
  wait: boolean;
}

/** A feed of one's own, as the flags describe it. */
export interface OwnFeed extends OtherPlace {
  name: string;
  format: string;
  licence: string;
  products: readonly string[];
  covers: readonly string[];
}

/** The feeds of a server. */
export async function listOnServer(flags: ServerFlags): Promise<FeedView[]> {
  return feedsOf(await openRest(flags));
}

/** The problems of one feed or of all, and the feeds. Throws an ApiFailure for a feed that is not there. */
export async function problemsOnServer(
  flags: ServerFlags,
  feed: string | undefined,
): Promise<{ problems: Problem[]; feeds: FeedView[] }> {
  const rest = await openRest(flags);
  const query = feed === undefined ? {} : { feed };
  const found = objectsIn(await rest.call("GET", "/operations/v2/feedProblems", { query }), "problems");
  const all = objectsIn(await rest.call("GET", FEEDS, { query: { unmatched: true } }), "feeds");
  const asked = feed === undefined ? all : all.filter((each) => textIn(each, "name") === feed);
  return { problems: problemsInJson(found, asked), feeds: all.map(viewOfJson) };
}

/** Adds the presets of the server that the words mean. Throws a UsageFailure where nobody has said yes. */
export async function addPresetsOnServer(
  flags: ServerFlags,
  words: readonly string[],
  { address, interval }: OtherPlace,
  waiting: Waiting,
): Promise<void> {
  const rest = await openRest(flags);
  const presets = objectsIn(await rest.call("GET", "/operations/v2/feedPresets"), "presets").map((preset) => ({
    name: textIn(preset, "name"),
    ecosystems: textsIn(preset, "ecosystems"),
    preset,
  }));
  const chosen = presetsNamed(words, presets);
  if (address !== undefined && chosen.length !== 1)
    throw new UsageFailure(`an address is that of one feed, and these are ${chosen.length}`, { field: "--address" });
  const planned = chosen.map(({ name, preset }) => ({
    name,
    title: textIn(preset, "title"),
    covers: textIn(preset, "covers"),
    address: address ?? textIn(preset, "address"),
    intervalMs: interval === undefined ? millisecondsOf(textIn(preset, "interval")) : intervalMsOf(interval),
    licence: textIn(preset, "licence"),
    isThere: preset["isAdded"] === true,
  }));
  const accepted = await acceptedOf(planned, waiting);
  const added: string[] = [];
  for (const each of accepted) {
    await create(rest, each, { preset: each.name });
    added.push(each.name);
  }
  if (added.length === 0) return;
  console.log(`added ${plain(added.join(", "))}`);
  if (waiting.wait) await untilFetched(() => feedsOf(rest), added, { isAdded: true });
}

/** Adds a feed of one's own. One with an address is fetched once somebody has said yes. */
export async function addOwnOnServer(flags: ServerFlags, feed: OwnFeed, waiting: Waiting): Promise<void> {
  const { name, format, licence, address = "", interval, products, covers } = feed;
  const intervalMs = interval === undefined ? DEFAULT_INTERVAL_MS : intervalMsOf(interval);
  const rest = await openRest(flags);
  const plan = { name, title: "", covers: "", address, intervalMs, licence, isThere: false };
  if (address !== "" && (await acceptedOf([plan], waiting)).length === 0) return;
  await create(rest, plan, {}, { name, format, products: [...products], covers: [...covers] });
  console.log(`added ${plain(name)}`);
  if (address !== "" && waiting.wait) await untilFetched(() => feedsOf(rest), [name], { isAdded: true });
}

/** Has the server fetch the feeds, or with no names all that have an address. */
export async function updateOnServer(flags: ServerFlags, names: readonly string[], wait: boolean): Promise<void> {
  const rest = await openRest(flags);
  const fetched = (await feedsOf(rest)).filter(({ address, isGoing }) => address !== "" && !isGoing);
  const asked = names.length > 0 ? names : fetched.map(({ name }) => name);
  for (const name of asked) {
    await rest.call("POST", `${FEEDS}/${encodeURIComponent(name)}:refresh`, { body: {} });
    if (!wait) console.log(`${plain(name)}: the server fetches it now`);
  }
  if (wait) await untilFetched(() => feedsOf(rest), asked, { isAdded: false });
}

/** Removes a feed of the server with its records. */
export async function removeOnServer(flags: ServerFlags, name: string, wait: boolean): Promise<void> {
  const rest = await openRest(flags);
  const removed = await rest.call("DELETE", `${FEEDS}/${encodeURIComponent(name)}`);
  const what = `${plain(name)} with ${counted(numberIn(removed, "records"), "record")}`;
  if (!wait) return console.log(`the server removes ${what}`);
  await untilRemoved(() => feedsOf(rest), name);
  console.log(`removed ${what}`);
}

async function feedsOf(rest: RestClient): Promise<FeedView[]> {
  return objectsIn(await rest.call("GET", FEEDS), "feeds").map(viewOfJson);
}

/** What was seen is what is asked for: the preset may have another address by now. */
async function create(
  rest: RestClient,
  { address, intervalMs, licence }: PlannedFeedView,
  query: { preset?: string },
  own: JsonObject = {},
): Promise<void> {
  const body = { ...own, address, licence, interval: `${intervalMs / 1000}s` };
  const accept = address === "" ? {} : { acceptLicence: true };
  await rest.call("POST", FEEDS, { query: { ...query, ...accept }, body });
}

function presetsNamed<Preset extends { name: string; ecosystems: readonly string[] }>(
  words: readonly string[],
  presets: readonly Preset[],
): Preset[] {
  try {
    return presetsOfWords(words, presets);
  } catch (error) {
    throw new UsageFailure((error as Error).message);
  }
}

function intervalMsOf(interval: string): number {
  return durationOfFlag("--interval", interval);
}
