import { create } from "@bufbuild/protobuf";
import type { Call, CallData, PendingEvent } from "@moorage/kernel/core/call";
import type { Work } from "@moorage/kernel/core/work";
import { TooHeavyHere } from "@moorage/kernel/core/written-answer";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { after, type Awaitable } from "@moorage/kernel/lib/awaitable";
import { uuidOf } from "@moorage/kernel/lib/uuid";
import type { Database } from "@moorage/kernel/store";
import { callerGrants, grantsOf, type Rights, rightsOf } from "@moorage/platform/auth";
import { BELOW } from "../areas.ts";

/** A call, with the events that it has emitted so far, and the work that it wakes. */
export interface OpenCall extends Call {
  pendingEvents: PendingEvent[];
  wakes: Set<Work>;
}

/** How a call is open. */
export interface OpenCallOptions {
  /** Whether its client has disconnected. */
  hasLeft?: (() => boolean) | undefined;
  /** The most rows of one of its steps; see `Call.weigh`. Defaults to any number. */
  maxRows?: number;
  /** See `Call.elsewhere`; needed where `maxRows` is. */
  elsewhere?: Call["elsewhere"];
}

/**
 * A call on the transaction or reader. Its rights are read from bindings and mappings when first needed, and are then
 * fixed for the call.
 */
export function openCall(
  data: CallData,
  tx: Database,
  { hasLeft = () => false, maxRows = Infinity, elsewhere = nowhere }: OpenCallOptions = {},
): OpenCall {
  const pendingEvents: PendingEvent[] = [];
  const wakes = new Set<Work>();
  let rights: Awaitable<Rights> | undefined;
  const read = (): Awaitable<Rights> =>
    after(callerGrants(tx, data.caller, data.nowMs), (grants) => (rights = rightsOf(data.caller, grants)));
  const held = <T>(ask: (rights: Rights) => T): Awaitable<T> => after((rights ??= read()), ask);
  return {
    ...data,
    agreedMs: data.agreedMs ?? data.nowMs,
    tx,
    below: BELOW,
    pendingEvents,
    wakes,
    wake: (work) => void wakes.add(work),
    emit(schema, { body, ...event }) {
      const id = uuidOf(data.nowMs);
      pendingEvents.push({ ...event, id, schema, body: create(schema, body) });
      return id;
    },
    requireCaller() {
      if (hasLeft()) throw new MoorageError(Code.Aborted, "Aborted: the caller has left");
    },
    elsewhere,
    weigh(rows) {
      if (rows > maxRows) throw new TooHeavyHere(rows);
    },
    may: (capability, uid) => held((rights) => rights.may(capability, uid)),
    visible: (...capabilities) => held((rights) => rights.visible(capabilities)),
    heldBy: (identity, capability, uid) =>
      after(grantsOf(tx, identity), (grants) => rightsOf({ identity }, grants).may(capability, uid)),
  };
}

async function nowhere(): Promise<never> {
  throw new Error("a call without limits needs no other process");
}
