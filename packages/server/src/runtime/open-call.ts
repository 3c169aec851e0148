import { callerGrants, grantsOf, type Rights, rightsOf } from "../auth/index.ts";
import { create } from "@bufbuild/protobuf";
import type { Call, CallData, PendingEvent } from "../core/call.ts";
import { Code, MoorageError } from "../errors.ts";
import { after, type Awaitable } from "../lib/awaitable.ts";
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
  const held = <T>(ask: (rights: Rights) => T): Awaitable<T> =>
    rights !== undefined
      ? ask(rights)
      : after(callerGrants(tx, data.caller, data.nowMs), (grants) => ask((rights ??= rightsOf(data.caller, grants))));
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
    may: (capability, uid) => held((rights) => rights.may(capability, uid)),
    visible: (...capabilities) => held((rights) => rights.visible(capabilities)),
    heldBy: (identity, capability, uid) =>
      after(grantsOf(tx, identity), (grants) => rightsOf({ identity }, grants).may(capability, uid)),
  };
}
