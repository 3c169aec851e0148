import type { Actor, CallData, PendingEvent } from "@moorage/kernel/core/call";
import { type Database, declareMany, select } from "@moorage/kernel/store";
import { bodyOf } from "./body.ts";

const INSERT = "insert into event_outbox (id, type, subject, parent, target, time, actor, body) values ";
const ROW = "(?, ?, ?, ?, ?, ?, ?, ?)";
declareMany(INSERT + ROW, ["text", "text", "text", "text", "text", "bigint", "text", "text"]);
// Keeps the parameters of a statement below the limits of both databases.
const ROWS_PER_STATEMENT = 100;
const SYSTEM: Actor = { identity: "", act: { actor: "system" } };

/** An event that has no sequence number yet. `actor` and `body` are JSON text. */
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
 * Appends events to the outbox, in the order in which they were emitted and in the transaction that emitted them. The
 * sequencer numbers them after the commit.
 */
export async function appendEvents(
  tx: Database,
  data: CallData,
  pendingEvents: readonly PendingEvent[],
): Promise<void> {
  if (pendingEvents.length === 0) return;
  await appendRows(
    tx,
    pendingEvents.map((event) => rowOf(data, event)),
  );
}

/** Appends the rows in order. */
export async function appendRows(tx: Database, rows: readonly OutboxRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT) {
    const some = rows.slice(at, at + ROWS_PER_STATEMENT);
    const values: (string | number)[] = [];
    for (const { id, type, subject, group, target, timeMs, actor, body } of some)
      values.push(id, type, subject, group, target, timeMs, actor, body);
    await select(tx, textOf(some.length), values);
  }
}

const texts: string[] = [];

/** The statement for so many rows. */
function textOf(rows: number): string {
  return (texts[rows] ??= INSERT + Array.from({ length: rows }, () => ROW).join(", "));
}

/**
 * The actor as JSON text. All claims are texts, since receivers read `act` as a map of texts: `true` becomes "true",
 * 12 becomes "12", and a claim with parts its JSON. Source: docs/contract.md, "Events".
 */
export function actorOf({ identity, act }: Actor): string {
  const texts = Object.entries(act).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return JSON.stringify({ subject: identity, act: Object.fromEntries(texts) });
}

function rowOf(
  { caller, nowMs }: CallData,
  { schema, body, isSystem = false, by, target = "", ...event }: PendingEvent,
): OutboxRow {
  const actor = isSystem ? SYSTEM : (by ?? { identity: caller.identity, act: caller.act ?? {} });
  return { ...event, target, timeMs: nowMs, actor: actorOf(actor), body: bodyOf(schema, body) };
}
