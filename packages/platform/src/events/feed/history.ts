import { failedPrecondition } from "@moorage/kernel/errors";
import { type Database, statement } from "@moorage/kernel/store";

// A database can be replaced by an older copy of itself: a failover to a replica that lagged behind, a restored backup.
// Numbers of events are then given again, to other events. So whoever remembers a number remembers the event as well.

/** The number of an event, and its mark; undefined when the event is not known or not kept. */
export interface Place {
  seq: number;
  mark?: string | undefined;
}

const MARK_LENGTH = 12;

const selectHead = statement<{ number: number; id: string | null }>(
  "select n.number, e.id from event_numbers as n left join events as e on e.seq = n.number where n.subject = ''",
);
const selectId = statement<{ id: string }>("select id from events where seq = ?");

/** What distinguishes the event with this id from others that got its number in another history. */
export function markOf(id: string): string {
  // The end of a UUID is random.
  return id.slice(-MARK_LENGTH);
}

/** The newest event of the installation. */
export async function headOf(db: Database): Promise<Place> {
  const [head] = await selectHead(db);
  return { seq: Number(head?.number ?? 0), mark: head?.id ? markOf(head.id) : undefined };
}

/** The place of this number, by the event that has it now. */
export async function placeAt(db: Database, seq: number): Promise<Place> {
  const [found] = await selectId(db, seq);
  return { seq, mark: found && markOf(found.id) };
}

/**
 * Whether the database has the history in which the place was: its event still has its number. Where that was removed
 * because of its age, nothing speaks against it.
 */
export async function isOfHistory(db: Database, { seq, mark }: Place, head: Place): Promise<boolean> {
  if (seq > head.seq) return false;
  if (mark === undefined) return true;
  const now = seq === head.seq && head.mark !== undefined ? head : await placeAt(db, seq);
  return now.mark === undefined || now.mark === mark;
}

/** The error for a reader whose place is of another history. */
export function otherHistory(): Error {
  return expired(
    "the database was replaced by an older copy of itself after the cursor was given: what has happened since then has other numbers, and what the copy lacks is lost; begin again without a cursor",
  );
}

/** FAILED_PRECONDITION with CURSOR_EXPIRED. */
export function expired(description: string): Error {
  return failedPrecondition({ type: "CURSOR_EXPIRED", subject: "cursor", description });
}
