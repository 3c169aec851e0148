import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import type { EventSchema, EventsService, ListEventsRequest, WatchEventsRequest } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { type FieldViolation, invalidArgument } from "@moorage/kernel/errors";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { organizationOf } from "@moorage/kernel/lib/uid";
import { groups } from "../../iam/index.ts";
import { type FeedScope, openCursor, type Position, sealCursor } from "./cursor.ts";
import { notifierOf } from "./notifier.ts";
import { headOf, markOf } from "./history.ts";
import { type FeedPage, type FeedRow, readFeed, recentOf } from "./page.ts";
import { prefixViolations } from "../subscriptions/fields.ts";

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 200;
const WATCH_PAGE_SIZE = 100;
const MAX_PREFIXES = 64;
const HEARTBEAT_MS = 15_000;

/**
 * The event feed, for clients that cannot receive webhooks. A stream without new events sends its cursor every
 * `heartbeatMs` milliseconds.
 */
export function eventsService(
  { pageTokenKey, eventsPrefix, baseUrl = "" }: ServiceContext,
  heartbeatMs: number = HEARTBEAT_MS,
): Service<typeof EventsService> {
  const read = async (call: Call, scope: FeedScope, after: Position | undefined, limit: number): Promise<FeedPage> => {
    // Events of a deleted group cannot be read, even by a caller with rights on a group above it.
    await groups.get(call.tx, scope.group);
    return await readFeed(call.tx, scope, storedPrefixes(scope.typePrefixes, eventsPrefix), after, limit);
  };
  const begin = async (call: Call, scope: FeedScope, cursor: string): Promise<Position | undefined> => {
    if (cursor === "now") return { ...(await headOf(call.tx)), goneTo: 0 };
    if (cursor === "recent") return await recentOf(call.tx, organizationOf(scope.group));
    return cursor === "" ? undefined : openCursor(pageTokenKey, scope, cursor);
  };
  const toEvent = ({
    id,
    type,
    subject,
    parent,
    number,
    time,
    actor,
    body,
  }: FeedRow): MessageInitShape<typeof EventSchema> => {
    const actedBy = JSON.parse(actor) as JsonObject & { subject: string };
    return {
      specversion: "1.0",
      id,
      source: baseUrl,
      type: `${eventsPrefix}.${type}`,
      subject,
      time: timestamp(time),
      datacontenttype: "application/json",
      data: { actor: actedBy, body: JSON.parse(body) as JsonObject },
      group: parent,
      audience: "customer",
      actor: actedBy.subject,
      sequence: String(number),
    };
  };
  return {
    async listEvents(call, request) {
      const violations = request.pageSize < 0 ? [{ field: "page_size", description: "must not be negative" }] : [];
      const scope = scopeOf(request, eventsPrefix, violations);
      const limit = Math.min(request.pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
      const { rows, next, more } = await read(call, scope, await begin(call, scope, request.cursor), limit);
      return { events: rows.map(toEvent), nextCursor: sealCursor(pageTokenKey, scope, next), more };
    },
    async *watchEvents(call, request, signal) {
      const scope = scopeOf(request, eventsPrefix, []);
      const notifier = notifierOf(call.tx);
      let at = await begin(call, scope, request.cursor);
      // When to send a cursor without an event: at the start, so that a client that asked for events from now on knows
      // its position, and after a time without events.
      let dueMs = performance.now();
      for (;;) {
        const { rows, next, more } = await read(call, scope, at, WATCH_PAGE_SIZE);
        for (const row of rows)
          yield {
            event: toEvent(row),
            cursor: sealCursor(pageTokenKey, scope, { ...next, seq: row.seq, mark: markOf(row.id) }),
          };
        at = next;
        const isDue = performance.now() >= dueMs;
        if (isDue && rows.length === 0) yield { cursor: sealCursor(pageTokenKey, scope, at) };
        if (isDue || rows.length > 0) dueMs = performance.now() + heartbeatMs;
        signal.throwIfAborted();
        // SQLite answers without yielding to the event loop: without this no other request would proceed.
        await yieldToEventLoop();
        if (!more)
          at = {
            ...at,
            ...(await notifier.after(organizationOf(scope.group), at, Math.max(dueMs - performance.now(), 0), signal)),
          };
      }
    },
  };
}

/** The scope of a request. Throws INVALID_ARGUMENT with all violations, `violations` first. */
function scopeOf(
  request: ListEventsRequest | WatchEventsRequest,
  eventsPrefix: string,
  violations: FieldViolation[],
): FeedScope {
  const { group, typePrefixes, subjectPrefixes, taggedOnly } = request;
  const found = [...violations];
  for (const [field, prefixes] of Object.entries({ typePrefixes, subjectPrefixes })) {
    if (prefixes.length > MAX_PREFIXES) found.push({ field, description: `must be at most ${MAX_PREFIXES}` });
  }
  if (found.length === 0) found.push(...prefixViolations({ typePrefixes, subjectPrefixes }, eventsPrefix));
  if (found.length > 0) throw invalidArgument(...found);
  return { group, typePrefixes, subjectPrefixes, taggedOnly };
}

/** The type prefixes without the configured prefix; empty for all types. */
function storedPrefixes(typePrefixes: readonly string[], eventsPrefix: string): string[] {
  const stored = typePrefixes.map((prefix) => prefix.slice(eventsPrefix.length + 1));
  return stored.includes("") ? [] : stored;
}
