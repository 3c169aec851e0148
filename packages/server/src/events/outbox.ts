import type { Actor, CallData, PendingEvent } from "../core/call.ts";
import { type Database, select } from "../store/index.ts";
import { bodyOf } from "./body.ts";

const INSERT = "insert into event_outbox (id, type, subject, parent, target, time, actor, body) values ";
const ROW = "(?, ?, ?, ?, ?, ?, ?, ?)";
// Statements stay below every engine's limit of parameters.
const AT_ONCE = 100;
const SYSTEM: Actor = { identity: "", act: { actor: "system" } };

/** An event as it waits for its number. `actor` and `body` are JSON text. */
export interface OutboxRow {
  id: string;
  type: string;
  subject: string;
  group: string;
  target: string;
  timeMs: number;
  actor: string;
  body: string;
}

/**
 * Appends what happened to the outbox, in the transaction that did it and in the order it was told of. They get their
 * numbers once it is committed.
 */
export async function appendEvents(
  tx: Database,
  data: CallData,
  pendingEvents: readonly PendingEvent[],
): Promise<void> {
  await appendRows(
    tx,
    pendingEvents.map((event) => rowOf(data, event)),
  );
}

/** Appends them in their order. */
export async function appendRows(tx: Database, rows: readonly OutboxRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += AT_ONCE) {
    const some = rows.slice(at, at + AT_ONCE);
    const values = some.flatMap(({ id, type, subject, group, target, timeMs, actor, body }) => [
      id,
      type,
      subject,
      group,
      target,
      timeMs,
      actor,
      body,
    ]);
    await select(tx, INSERT + some.map(() => ROW).join(", "), values);
  }
}

/** Who did something, as the outbox has it. */
export function actorOf({ identity, act }: Actor): string {
  return JSON.stringify({ subject: identity, act });
}

function rowOf(
  { caller, nowMs }: CallData,
  { schema, body, isSystem = false, by, target = "", ...event }: PendingEvent,
): OutboxRow {
  const actor = isSystem ? SYSTEM : (by ?? { identity: caller.identity, act: caller.act ?? {} });
  return { ...event, target, timeMs: nowMs, actor: actorOf(actor), body: bodyOf(schema, body) };
}
