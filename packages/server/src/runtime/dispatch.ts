import {
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { Transaction } from "@moorage/api";
import { authorize, placesOf } from "../auth/index.ts";
import type { Stored } from "../core/stored.ts";
import { type Auditor, rejectionOf } from "../audit/index.ts";
import { packed, unpacked } from "./latin1.ts";
import type { CallData } from "../core/call.ts";
import { callMethod } from "./commands.ts";
import { openCall } from "./open-call.ts";
import { Code, MoorageError } from "../errors.ts";
import { type Method, nameOf } from "./methods.ts";
import type { Database } from "../store/index.ts";
import { createSlots, guarded } from "./stream-limits.ts";
import type { Transactor } from "../core/transactor.ts";

/** A method that needs no transaction around it, and may read the token itself, as the exchange does. */
export type OutsideMethod = (data: CallData, request: Message, authorization: string | undefined) => Promise<Message>;

/**
 * Looks at a writing call over the network, which nothing may do in its transaction. Throws what the call is refused
 * with.
 */
export type MethodCheck = (data: CallData, request: Message) => Promise<void>;

/** Where every call of a method gets its rights looked at and its transaction. Protocols come here by the pipeline. */
export interface Dispatch {
  answer(
    method: DescMethodUnary,
    data: CallData,
    message: Message,
    extra?: { authorization?: string },
  ): Promise<Message | Stored>;
  /**
   * A method that answers many times. Its caller's rights are looked at when it begins and again as long as it goes on.
   */
  stream(
    method: DescMethodServerStreaming,
    data: CallData,
    message: Message,
    extra: StreamCall,
  ): AsyncIterable<Message>;
}

export interface StreamCall {
  /** Ends the stream with its reason. */
  signal: AbortSignal;
  /** Who calls, found out anew, and the time. Throws UNAUTHENTICATED when the token has ended. */
  renew(): Promise<CallData>;
}

export interface DispatchDeps {
  methods: Map<string, Method>;
  outside: Map<string, OutsideMethod>;
  /** What is looked at between the caller's rights and the transaction, by the method's name. Absent: nothing. */
  checks?: Map<string, MethodCheck>;
  reader: Database;
  transactor: Transactor;
  admins: readonly string[];
  /** Told of what is refused. */
  auditor: Pick<Auditor, "note">;
}

export function createDispatch({
  methods,
  outside,
  checks,
  reader,
  transactor,
  admins,
  auditor,
}: DispatchDeps): Dispatch {
  const answer: Dispatch["answer"] = async (desc, data, message, extra) => {
    const name = nameOf(desc);
    const loose = outside.get(name);
    if (loose !== undefined) return await loose(data, message, extra?.authorization);
    const method = methods.get(name);
    if (method?.kind !== "unary") throw unknown(name);
    const call = openCall(data, reader);
    const writes = method.transaction === Transaction.WRITE;
    let isAuthorized = false;
    try {
      await authorize(desc, method.access, call, message, admins.includes(data.caller.identity));
      isAuthorized = true;
      if (!writes) return await method.run(call, message);
      await checks?.get(name)?.(data, message);
      return fromBinary(
        desc.output,
        unpacked(
          await transactor.write(callMethod, data, { method: name, request: packed(toBinary(desc.input, message)) }),
        ),
      );
    } catch (error) {
      note(method, data, message, error, { hides: !isAuthorized, writes });
      throw error;
    }
  };
  const note = (
    { desc, access }: Method,
    data: CallData,
    message: Message,
    error: unknown,
    how: { hides: boolean; writes: boolean },
  ): void => {
    // To whoever has no right there, what is there is told as what is not. Without a token nobody was refused: nobody
    // was there.
    const rejection = data.caller.identity === "" ? undefined : rejectionOf(error, how);
    if (rejection)
      auditor.note(data, { method: nameOf(desc), resource: placesOf(desc, access, message)[0] ?? "", ...rejection });
  };
  const slots = createSlots();
  const stream: Dispatch["stream"] = async function* (desc, data, message, { signal, renew }) {
    const method = methods.get(nameOf(desc));
    if (method?.kind !== "stream") throw unknown(nameOf(desc));
    const allow = async (asked: CallData): Promise<void> => {
      try {
        await authorize(desc, method.access, openCall(asked, reader), message, admins.includes(asked.caller.identity));
      } catch (error) {
        note(method, asked, message, error, { hides: true, writes: false });
        throw error;
      }
    };
    await allow(data);
    const { expiresAtMs = Infinity, identity } = data.caller;
    yield* slots.held(
      identity,
      signal,
      guarded((ended) => method.open(openCall(data, reader), message, ended), {
        signal,
        endsInMs: expiresAtMs - data.nowMs,
        check: async () => allow(await renew()),
      }),
    );
  };
  return {
    answer,
    stream,
  };
}

function unknown(name: string): MoorageError {
  return new MoorageError(Code.Unimplemented, `there is no method ${name}`);
}
