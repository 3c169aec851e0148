import { toJson } from "@bufbuild/protobuf";
import type { CallData, Happened } from "../call.ts";
import { type Database, statement } from "../store/index.ts";

const insert = statement("insert into event_outbox (id, type, subject, parent, target, time, actor, body) values (?, ?, ?, ?, ?, ?, ?, ?)");

/** Appends what happened to the outbox, in the transaction that did it. They get their numbers once it is committed. */
export async function appendEvents(tx: Database, data: CallData, happened: readonly Happened[]): Promise<void> {
  for (const { id, type, subject, group, target = "", isSystem = false, schema, body } of happened) {
    const actor = isSystem ? { subject: "", act: { actor: "system" } } : { subject: data.caller.identity, act: data.caller.act ?? {} };
    const json = JSON.stringify(toJson(schema, body, { alwaysEmitImplicit: true }));
    await insert(tx, id, type, subject, group, target, data.nowMs, JSON.stringify(actor), json);
  }
}
