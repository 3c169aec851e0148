import { randomBytes, randomUUID } from "node:crypto";
import type { Database, Row } from "../../../kernel/src/store/index.ts";

/** The numbers of DeliveryState. */
export const STATE = { pending: 1, sending: 2, retrying: 3, delivered: 4, dead: 5 } as const;

/** Inserts deliveries into the queue without the API, in the given states. Returns their uids. */
export async function addDeliveries(
  tx: Database,
  subscription: string,
  fields: readonly Partial<Row<"deliveries">>[],
): Promise<string[]> {
  const rows = fields.map((each): Row<"deliveries"> => {
    // Larger than any number that the server assigns during a test.
    const seq = randomBytes(6).readUIntBE(0, 6) + 2 ** 40;
    const ended = each.state === STATE.delivered || each.state === STATE.dead;
    const timeMs = each.create_time ?? Date.now();
    return {
      uid: `${subscription}/${seq.toString(16).padStart(16, "0")}`,
      parent: subscription,
      seq,
      event_id: randomUUID(),
      event_type: "registry.push.v1",
      event_subject: subscription.slice(0, subscription.lastIndexOf("/")),
      state: STATE.pending,
      tries: 0,
      step: 0,
      last_status: 0,
      last_error: "",
      last_latency_ms: 0,
      next_time: ended ? null : timeMs,
      attempts: "[]",
      create_time: timeMs,
      update_time: timeMs,
      ...each,
    };
  });
  // Each row has sixteen parameters, and a statement accepts only some ten thousand.
  for (let at = 0; at < rows.length; at += 500)
    await tx
      .insertInto("deliveries")
      .values(rows.slice(at, at + 500))
      .execute();
  return rows.map(({ uid }) => uid);
}
