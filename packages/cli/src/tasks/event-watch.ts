// `moorage events watch`: the feed of events, read on and on.
import { setTimeout as delay } from "node:timers/promises";
import { objectsIn, textIn } from "../api/json-fields.ts";
import { ApiFailure, type JsonObject, type Query } from "../api/rest.ts";
import { timeOfFlag } from "../api/time-flags.ts";
import { EXIT } from "../command/exit-codes.ts";
import { exitOf, lineOf, UsageFailure } from "../command/failure.ts";
import { interruption } from "../command/interrupt.ts";
import { formatOf } from "../output/format.ts";
import { printItem, printList, printMessage } from "../output/output.ts";
import { createWriter } from "../output/writer.ts";
import { namedBy } from "../sign-ins.ts";
import { EVENTS, isShortType, shortType } from "./event-columns.ts";
import { openSession, type Session, type TaskFlags } from "./session.ts";

const ASK_EVERY_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
const PAGE_SIZE = 200;
const DEFAULT_PREFIX = "dev.moorage.";

export interface WatchFlags extends TaskFlags {
  type?: string[];
  subject?: string[];
  taggedOnly?: boolean;
  since?: string;
  cursor?: string;
}

/** Prints events until it is interrupted. As JSON each is a line; a lost connection is taken up again. */
export async function watchEvents(place: string | undefined, flags: WatchFlags): Promise<void> {
  const sinceMs = flags.since === undefined ? undefined : timeOfFlag("--since", flags.since).firstMs;
  const session = await openSession(flags);
  const group = await groupOf(session, place ?? namedBy(flags).context?.group);
  const types = flags.type ?? [];
  const prefix = types.some(isShortType) ? await typePrefix(session, group) : "";
  const query: Query = {
    group,
    type_prefixes: types.map((type) => (isShortType(type) ? `${prefix}${type}` : type)),
    subject_prefixes: await Promise.all((flags.subject ?? []).map((text) => placeOf(session, text))),
    ...(flags.taggedOnly === true && { tagged_only: true }),
  };
  const start = flags.cursor ?? (sinceMs === undefined ? "now" : "");
  const events = feed(session, query, start, sinceMs ?? -Infinity);
  const { kind } = formatOf(flags);
  if (kind === "json") {
    const writer = createWriter();
    for await (const event of events) await writer.write(`${JSON.stringify(event)}\n`);
  } else if (kind === "yaml" || kind === "jq" || kind === "jsonpath") {
    // These formats are otherwise about a whole list, which has no end here.
    for await (const event of events) await printItem(event, EVENTS, flags, { pathOf: session.names.pathOf });
  } else await printList(events, EVENTS, flags, { pathOf: session.names.pathOf });
}

/** The events after a cursor, without end. Throws the interruption's Failure. */
async function* feed(
  { rest }: Session,
  query: Query,
  start: string,
  sinceMs: number,
): AsyncGenerator<JsonObject, void> {
  const signal = interruption();
  let cursor = start;
  for (let failures = 0; ;) {
    let more = false;
    try {
      const page = await rest.call("GET", "/events/v2/events", { query: { ...query, cursor, page_size: PAGE_SIZE } });
      if (failures > 0) printMessage("moorage: connected again");
      failures = 0;
      for (const event of objectsIn(page, "events")) if (!(Date.parse(textIn(event, "time")) < sinceMs)) yield event;
      // Kept after the events: after a break they come once more rather than never.
      cursor = textIn(page, "nextCursor") || cursor;
      more = page["more"] === true;
    } catch (error) {
      signal.throwIfAborted();
      const expiry = expiryIn(error);
      if (expiry !== undefined) {
        printMessage(`moorage: ${expiry}`);
        printMessage("moorage: going on with the oldest event that is kept");
        cursor = "";
        continue;
      }
      if (exitOf(error) !== EXIT.unavailable) throw error;
      if (failures === 0) printMessage(`moorage: ${lineOf(error)}; trying again`);
      failures += 1;
    }
    const waitMs = Math.min(LONGEST_WAIT_MS, ASK_EVERY_MS * 2 ** Math.min(failures, 5));
    if (!more) await delay(failures === 0 ? ASK_EVERY_MS : waitMs, undefined, { signal }).catch(() => undefined);
    signal.throwIfAborted();
  }
}

/** What the server says of a cursor that it cannot go on from; undefined for other errors. */
function expiryIn(error: unknown): string | undefined {
  if (!(error instanceof ApiFailure)) return undefined;
  return error.fieldViolations.find(({ field }) => field === "CURSOR_EXPIRED")?.description;
}

async function groupOf({ rest, names }: Session, place: string | undefined): Promise<string> {
  if (place !== undefined) return names.uidOf("group", place);
  const answer = await rest.call("GET", "/iam/v2/groups", { query: { "uidp.in_root": true, page_size: 10 } });
  const groups = objectsIn(answer, "groups");
  const [only, second] = groups;
  if (only !== undefined && second === undefined) return textIn(only, "uid");
  throw new UsageFailure("name the group whose events are meant", {
    ...(groups.length > 0 && { hint: `there are ${groups.map((group) => textIn(group, "name")).join(", ")}` }),
  });
}

/** A repo or group of `--subject`. */
async function placeOf({ names }: Session, text: string): Promise<string> {
  return names.uidOf("repo", text).catch(async (error: unknown) => {
    if (exitOf(error) !== EXIT.notFound) throw error;
    return names.uidOf("group", text);
  });
}

/** What the installation's types begin with (MOORAGE_EVENTS_PREFIX), from one of its events where there is one. */
export async function typePrefix({ rest }: Pick<Session, "rest">, group: string): Promise<string> {
  const answer = await rest.call("GET", "/events/v2/events", { query: { group, cursor: "recent", page_size: 1 } });
  const type = textIn(objectsIn(answer, "events")[0], "type");
  return type === "" ? DEFAULT_PREFIX : type.slice(0, type.length - shortType(type).length);
}
