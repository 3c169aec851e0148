import { callerGrants, grantsOf, type Rights, rightsOf } from "../auth/index.ts";
import { create } from "@bufbuild/protobuf";
import type { Call, CallData, PendingEvent } from "../core/call.ts";
import { Code, MoorageError } from "../errors.ts";
import { uuidOf } from "../lib/uuid.ts";
import type { Database } from "../store/index.ts";

/** A call, with the events that it has emitted so far. */
export interface OpenCall extends Call {
  pendingEvents: PendingEvent[];
}

/**
 * A call on the transaction or reader. Its rights are read from bindings and mappings when first needed, and are then
 * fixed for the call. `hasLeft`: whether its client has disconnected.
 */
export function openCall(data: CallData, tx: Database, hasLeft: () => boolean = () => false): OpenCall {
  const pendingEvents: PendingEvent[] = [];
  let rights: Rights | undefined;
  const read = async (): Promise<Rights> =>
    (rights ??= rightsOf(data.caller, await callerGrants(tx, data.caller, data.nowMs)));
  return {
    ...data,
    agreedMs: data.agreedMs ?? data.nowMs,
    tx,
    pendingEvents,
    emit(schema, { body, ...event }) {
      const id = uuidOf(data.nowMs);
      pendingEvents.push({ ...event, id, schema, body: create(schema, body) });
      return id;
    },
    requireCaller() {
      if (hasLeft()) throw new MoorageError(Code.Aborted, "Aborted: the caller has left");
    },
    may: async (capability, uid) => (rights ?? (await read())).may(capability, uid),
    visible: async (...capabilities) => (rights ?? (await read())).visible(capabilities),
    heldBy: async (identity, capability, uid) =>
      rightsOf({ identity }, await grantsOf(tx, identity)).may(capability, uid),
  };
}
