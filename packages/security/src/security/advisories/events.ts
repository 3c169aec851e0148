import type { FieldMask } from "@bufbuild/protobuf/wkt";
import { type AdvisoryEvent, AdvisoryEventSchema, Capability, ReviewState } from "@moorage/api/messages";
import { applyMask } from "@moorage/kernel/aip/masks";
import type { Call, CallData } from "@moorage/kernel/core/call";
import { failedPrecondition, invalidArgument, notFound, permissionDenied } from "@moorage/kernel/errors";
import { isUid, newUid, parentOf } from "@moorage/kernel/lib/uid";
import { createTurns } from "@moorage/kernel/lib/turns";
import { type Database, type Row, select } from "@moorage/kernel/store";
import { checkChangedEvent } from "./check.ts";
import { noteDecision } from "./decisions.ts";
import { hiddenFrom, LOCATION_CHANGED, locationChangeOf, setLocationChange } from "./location-changes.ts";
import { eventColumns, eventOf, findAdvisory, WITHOUT_FINDINGS } from "./rows.ts";

type EventRow = Row<"advisory_events">;

// A page of 200 advisories holds all their events.
const MAX_EVENTS = 100;
const MAX_CHARS = 64 << 10;
/** The events of so many advisories are read in one step. */
const ADVISORIES_AT_ONCE = 10;
/** What an event takes beside its texts. */
const EVENT_BYTES = 512;

/**
 * Adds events to an advisory in their order, and notes them there. Throws PERMISSION_DENIED for an event that is to be
 * reviewed already, if the caller may not review, and FAILED_PRECONDITION for more than an advisory holds.
 */
export async function addEvents(
  call: Call,
  advisory: string,
  added: readonly AdvisoryEvent[],
): Promise<AdvisoryEvent[]> {
  const before = await heldBy(call.tx, advisory);
  const rows: EventRow[] = [];
  for (const event of added) {
    const state = event.reviewState === ReviewState.UNSPECIFIED ? ReviewState.PENDING : event.reviewState;
    if (state !== ReviewState.PENDING) await requireReviewer(call, advisory);
    rows.push({
      uid: newUid(advisory),
      parent: advisory,
      ...eventColumns(call, event),
      author: call.caller.identity,
      ...reviewed(call, state),
      // Times of one advisory strictly increase, so that one of its events is the latest.
      create_time: Math.max(call.nowMs, ((rows.at(-1) ?? before.at(-1))?.create_time ?? 0) + 1),
    });
  }
  requireWithinLimits(advisory, [...before, ...rows]);
  if (rows.length > 0) await call.tx.insertInto("advisory_events").values(rows).execute();
  await noteEvents(call, advisory);
  return rows.map(eventOf);
}

/**
 * Reviews an event or changes it. An event that was approved or rejected is not changed, and one that is changed waits
 * for another review. Throws FAILED_PRECONDITION, PERMISSION_DENIED, INVALID_ARGUMENT or NOT_FOUND.
 */
export async function changeEvent(
  call: Call,
  patch: AdvisoryEvent,
  mask: FieldMask | undefined,
): Promise<AdvisoryEvent> {
  const before = await getEvent(call, patch.uid);
  const { uid, parent } = before;
  const current = eventOf(before);
  const after = applyMask(AdvisoryEventSchema, current, patch, mask);
  // v1 replaces the whole event.
  setLocationChange(after, locationChangeOf(call, patch));
  checkChangedEvent(call, current, after);
  if (after.reviewState === ReviewState.UNSPECIFIED)
    throw invalidArgument({ field: "reviewState", description: "must be a state" });
  const columns = eventColumns(call, after);
  const isChanged = (["content", "issue", "findings"] as const).some((column) => columns[column] !== before[column]);
  if (isChanged && (before.review_state === ReviewState.APPROVED || before.review_state === ReviewState.REJECTED))
    throw failedPrecondition({
      type: "EVENT_REVIEWED",
      subject: uid,
      description: "an event that was approved or rejected cannot be changed: add another one",
    });
  const isAsked = after.reviewState !== before.review_state;
  const state = isChanged && !isAsked ? ReviewState.PENDING : after.reviewState;
  // An author who has made the changes that were asked for has the event wait again.
  const isResubmitted = before.review_state === ReviewState.REQUEST_CHANGES && state === ReviewState.PENDING;
  if (state !== before.review_state && !isResubmitted) await requireReviewer(call, uid);
  const changes = { ...columns, ...(state === before.review_state ? {} : reviewed(call, state)) };
  const others = (await heldBy(call.tx, parent)).filter((event) => event.uid !== uid);
  requireWithinLimits(parent, [...others, { ...before, ...changes }]);
  await call.tx.updateTable("advisory_events").set(changes).where("uid", "=", uid).execute();
  await noteEvents(call, parent);
  return eventOf({ ...before, ...changes });
}

/** The events of an advisory that the caller is shown, oldest first. */
export async function eventsOf(call: Pick<Call, "tx" | "v1">, advisory: string): Promise<AdvisoryEvent[]> {
  const rows = await call.tx
    .selectFrom("advisory_events")
    .selectAll()
    .where("parent", "=", advisory)
    .where("type", "not in", hiddenFrom(call))
    .orderBy("create_time")
    .execute();
  return rows.map(eventOf);
}

/**
 * The events of several advisories without their findings, by advisory, oldest first. Those that v1 alone has only for
 * v1.
 */
export async function eventsByAdvisory(
  db: Database,
  uids: readonly string[],
  by: Pick<CallData, "v1"> = {},
): Promise<ReadonlyMap<string, AdvisoryEvent[]>> {
  const found = new Map<string, AdvisoryEvent[]>();
  const turn = createTurns();
  for (let at = 0; at < uids.length; at += ADVISORIES_AT_ONCE) {
    const rows = await db
      .selectFrom("advisory_events")
      .select(WITHOUT_FINDINGS)
      .where("parent", "in", uids.slice(at, at + ADVISORIES_AT_ONCE))
      .where("type", "not in", hiddenFrom(by))
      .orderBy("parent")
      .orderBy("create_time")
      .execute();
    for (const row of rows) {
      const event = eventOf(row);
      const known = found.get(row.parent);
      if (known === undefined) found.set(row.parent, [event]);
      else known.push(event);
    }
    await turn();
  }
  return found;
}

/**
 * What the events of advisories take on a page, in bytes; an advisory without any is left out. Those behind `mostBytes`
 * may be left out as well.
 */
export async function bytesOfEvents(
  db: Database,
  uids: readonly string[],
  mostBytes: number,
): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  let sum = 0;
  for (let at = 0; at < uids.length && sum <= mostBytes; at += ADVISORIES_AT_ONCE) {
    const some = uids.slice(at, at + ADVISORIES_AT_ONCE);
    const rows = await select<{ parent: string; n: number | string; bytes: number | string }>(
      db,
      `select parent, count(*) as n, sum(octet_length(content) + octet_length(issue)) as bytes
         from advisory_events where parent in (${some.map(() => "?").join(", ")}) group by parent`,
      some,
    );
    for (const { parent, n, bytes } of rows) {
      const each = Number(n) * EVENT_BYTES + Number(bytes);
      found.set(parent, each);
      sum += each;
    }
  }
  return found;
}

/** Throws NOT_FOUND, also for an event of a deleted advisory. */
async function getEvent(call: Call, uid: string): Promise<EventRow> {
  const advisory = isUid(uid) ? await findAdvisory(call.tx, parentOf(uid)) : undefined;
  const row =
    advisory === undefined
      ? undefined
      : await call.tx
          .selectFrom("advisory_events")
          .selectAll()
          .where("uid", "=", uid)
          .where("type", "not in", hiddenFrom(call))
          .executeTakeFirst();
  if (row === undefined) throw notFound(AdvisoryEventSchema.typeName, uid);
  return row;
}

/** The events of an advisory without what may be large, oldest first. */
async function heldBy(
  db: Database,
  advisory: string,
): Promise<Pick<EventRow, "uid" | "content" | "issue" | "create_time">[]> {
  return await db
    .selectFrom("advisory_events")
    .select(["uid", "content", "issue", "create_time"])
    .where("parent", "=", advisory)
    .orderBy("create_time")
    .execute();
}

/** Throws FAILED_PRECONDITION if these events are more than an advisory holds. */
function requireWithinLimits(advisory: string, events: readonly Pick<EventRow, "content" | "issue">[]): void {
  const chars = events.reduce((sum, { content, issue }) => sum + content.length + issue.length, 0);
  if (events.length <= MAX_EVENTS && chars <= MAX_CHARS) return;
  throw failedPrecondition({
    type: "TOO_MANY_EVENTS",
    subject: advisory,
    description: `an advisory has at most ${MAX_EVENTS} events, of ${MAX_CHARS} characters in all`,
  });
}

/** Brings up to date what the advisory says by its events. */
async function noteEvents(call: Call, advisory: string): Promise<void> {
  const { tx, nowMs } = call;
  const latest = await tx
    .selectFrom("advisory_events")
    .select("type")
    .where("parent", "=", advisory)
    .where("review_state", "=", ReviewState.APPROVED)
    .where("type", "!=", LOCATION_CHANGED)
    .orderBy("create_time", "desc")
    .limit(1)
    .executeTakeFirst();
  await tx
    .updateTable("advisories")
    .set({ update_time: nowMs, latest_type: latest?.type ?? 0 })
    .where("uid", "=", advisory)
    .execute();
  await noteDecision(call, advisory);
}

/** What a review by the caller writes. A state of waiting forgets the last review. */
function reviewed(
  { caller, nowMs }: Call,
  state: ReviewState,
): Pick<EventRow, "review_state" | "reviewer" | "review_time"> {
  if (state === ReviewState.PENDING) return { review_state: state, reviewer: "", review_time: null };
  return { review_state: state, reviewer: caller.identity, review_time: nowMs };
}

async function requireReviewer(call: Call, uid: string): Promise<void> {
  if (await call.may(Capability.CAP_ADVISORIES_APPROVE, uid)) return;
  throw permissionDenied("the caller may not review events here", { missing: "CAP_ADVISORIES_APPROVE" });
}
