import type { CallData, Happened } from "../call.ts";
import { type Database, select } from "../store/index.ts";
import { bodyOf } from "./body.ts";

const INSERT = "insert into event_outbox (id, type, subject, parent, target, time, actor, body) values ";
const ROW = "(?, ?, ?, ?, ?, ?, ?, ?)";
// Statements stay below every engine's limit of parameters.
const AT_ONCE = 100;
const SYSTEM = { subject: "", act: { actor: "system" } };

/** Appends what happened to the outbox, in the transaction that did it and in the order it was told of. They get their numbers once it is committed. */
export async function appendEvents(tx: Database, data: CallData, happened: readonly Happened[]): Promise<void> {
  for (let at = 0; at < happened.length; at += AT_ONCE) {
    const some = happened.slice(at, at + AT_ONCE);
    await select(tx, INSERT + some.map(() => ROW).join(", "), some.flatMap((event) => rowOf(data, event)));
  }
}

function rowOf({ caller, nowMs }: CallData, { id, type, subject, group, target = "", isSystem = false, by, schema, body }: Happened): (string | number)[] {
  const actor = isSystem ? SYSTEM : { subject: by?.identity ?? caller.identity, act: by?.act ?? caller.act ?? {} };
  return [id, type, subject, group, target, nowMs, JSON.stringify(actor), bodyOf(schema, body)];
}
