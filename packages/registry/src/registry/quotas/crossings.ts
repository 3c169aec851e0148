import { QuotaSchema, QuotaState } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { type Database, type Row, statement } from "@moorage/kernel/store";
import { usedOf, wholeLevel } from "./levels.ts";
import { quotaMessage } from "./message.ts";

type QuotaRow = Row<"quotas">;

const changeState = statement<{ uid: string }>("update quotas set state = ? where uid = ? and state = ? returning uid");

/**
 * Notes that more of the quota is used than its state says. Each crossing is emitted once, also of those who cross in
 * one shared transaction.
 */
export async function noteRise(call: Call, quota: QuotaRow, state: QuotaState): Promise<void> {
  if (state <= quota.state) return;
  if ((await changeState(call.tx, state, quota.uid, quota.state)).length === 0) return;
  await emitCrossing(call, { ...quota, state });
}

/** Notes that less is used than before: the state is what the numbers say. Nothing is emitted. */
export async function noteFall(tx: Database, quota: QuotaRow): Promise<void> {
  if (quota.state <= QuotaState.OK) return;
  const state = wholeLevel(quota, await usedOf(tx, quota));
  if (state < quota.state) await changeState(tx, state, quota.uid, quota.state);
}

/** Notes the state that the numbers say, whatever it was. Answers the row as it is then. */
export async function noteState(call: Call, quota: QuotaRow): Promise<QuotaRow> {
  const state = wholeLevel(quota, await usedOf(call.tx, quota));
  if (state === quota.state) return quota;
  await changeState(call.tx, state, quota.uid, quota.state);
  const changed = { ...quota, state };
  if (state > quota.state) await emitCrossing(call, changed);
  return changed;
}

async function emitCrossing(call: Call, quota: QuotaRow): Promise<void> {
  const what =
    quota.state === QuotaState.EXCEEDED ? "exceeded" : quota.state === QuotaState.WARNED ? "warned" : undefined;
  if (what === undefined) return;
  call.emit(QuotaSchema, {
    type: `registry.quota.${what}.v1`,
    subject: quota.uid,
    group: quota.uid,
    body: quotaMessage(quota, await usedOf(call.tx, quota)),
  });
}
