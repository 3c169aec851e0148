import { grantsOf, type Rights, rightsOf } from "./access/rights.ts";
import type { Call, CallData } from "./call.ts";
import type { Database } from "./store/index.ts";

/** A call on the transaction or reader. Its rights are read from the bindings when first asked for, and hold for the call. */
export function openCall(data: CallData, tx: Database): Call {
  let rights: Promise<Rights> | undefined;
  const read = (): Promise<Rights> => (rights ??= grantsOf(tx, data.caller.identity).then((grants) => rightsOf(data.caller, grants)));
  return {
    ...data, tx,
    may: async (capability, uid) => (await read()).may(capability, uid),
    visible: async (...capabilities) => (await read()).visible(capabilities),
  };
}
