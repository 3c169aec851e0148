import {
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { Transaction } from "@moorage/api/messages";
import { requireKnownValues } from "@moorage/kernel/aip/known-values";
import { requireKnownFields } from "@moorage/kernel/aip/refuse-unknown-fields";
import { requireMessages } from "@moorage/kernel/aip/validate";
import { type Auditor, rejectionOf } from "@moorage/kernel/audit";
import type { CallData } from "@moorage/kernel/core/call";
import { isDryRun } from "@moorage/kernel/core/dry-run";
import type { Stored } from "@moorage/kernel/core/stored-answer";
import type { Streamed } from "@moorage/kernel/core/streamed-answer";
import type { Transactor } from "@moorage/kernel/core/transactor";
import { type AnswerForm, MAX_ROWS_HERE, TooHeavyHere, type Written } from "@moorage/kernel/core/written-answer";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { after, attempt, type Awaitable } from "@moorage/kernel/lib/awaitable";
import type { Database } from "@moorage/kernel/store";
import { authorize, placesOf } from "@moorage/platform/auth";
import { packed, unpacked } from "./latin1.ts";
import { callMethod } from "./commands.ts";
import { openCall, type OpenCallOptions } from "./open-call.ts";
import type { LargeAnswers } from "./large-answers.ts";
import { type Method, nameOf, ruleOf, type TranslationContext, type UnaryMethod } from "./methods.ts";
import { createSlots, guarded } from "./stream-limits.ts";

/** A method that needs no transaction of dispatch, and may read the token itself, as the exchange does. */
export type OutsideMethod = (data: CallData, request: Message, authorization: string | undefined) => Promise<Message>;

/**
 * Checks a writing call over the network, which its transaction must not do. Answers the request to go on with where it
 * adds what it found; otherwise the call goes on as it is. Throws the rejection.
 */
export type MethodCheck = (data: CallData, request: Message) => Promise<Message | void>;

/**
 * Reads what the transaction of a writing call would otherwise take long to read: what the call has as `ahead`. What is
 * wrong with the call the transaction says.
 */
export type ReadAhead = (data: CallData, request: Message) => Promise<NonNullable<CallData["ahead"]>>;

/**
 * Checks the rights of every call of a method and runs it in its transaction. Protocols reach it through the pipeline.
 */
export interface Dispatch {
  /** What is too heavy for this thread is answered by another process, in the form that is asked for. */
  answer(
    method: DescMethodUnary,
    data: CallData,
    message: Message,
    extra: AnswerExtra & { form: AnswerForm },
  ): Awaitable<Message | Stored | Streamed | Written>;
  /** Calls a streaming method. The caller's rights are checked when it begins and again while it runs. */
  stream(
    method: DescMethodServerStreaming,
    data: CallData,
    message: Message,
    extra: StreamCall,
  ): AsyncIterable<Message>;
}

/** What a call has beside its message. */
interface AnswerExtra {
  authorization?: string;
  /** Whether its client has disconnected. */
  hasLeft?: (() => boolean) | undefined;
}

interface StreamCall {
  /** Ends the stream with its reason when aborted. */
  signal: AbortSignal;
  /**
   * Authenticates the caller again. Returns the call's data with the current time. Throws UNAUTHENTICATED when the
   * token has expired.
   */
  renew(): Promise<CallData>;
}

export interface DispatchDeps {
  methods: Map<string, Method>;
  outside: Map<string, OutsideMethod>;
  /** Checks between authorization and the transaction, by the method's name. Defaults to none. */
  checks?: Map<string, MethodCheck>;
  /** What is read between authorization and the transaction, by the method's name. Defaults to nothing. */
  readAhead?: Map<string, ReadAhead>;
  reader: Database;
  transactor: Transactor;
  admins: readonly string[];
  /** Records rejected calls. */
  auditor: Pick<Auditor, "note">;
  /** Answers what is too heavy for this thread. Without it nothing is. */
  large?: Pick<LargeAnswers, "answer"> | undefined;
}

export function createDispatch({
  methods,
  outside,
  checks,
  readAhead,
  reader,
  transactor,
  admins,
  auditor,
  large,
}: DispatchDeps): Dispatch {
  const answer: Dispatch["answer"] = (desc, data, message, extra) => {
    if (large === undefined) return answerHere(desc, data, message, extra);
    const call = { ...extra, method: desc, data };
    const elsewhere = (request: Message, rows: number): Promise<Written> =>
      large.answer({ ...call, message: request, rows });
    return attempt<Message | Stored | Streamed | Written>(
      () => answerHere(desc, data, message, { ...extra, maxRows: MAX_ROWS_HERE, elsewhere }),
      (error) => {
        if (!(error instanceof TooHeavyHere)) throw error;
        return elsewhere(message, error.rows);
      },
    );
  };
  const answerHere = (
    desc: DescMethodUnary,
    data: CallData,
    message: Message,
    extra: AnswerExtra & OpenCallOptions,
  ): Awaitable<Message | Stored | Streamed> => {
    const name = nameOf(desc);
    requireKnownFields(desc, message);
    const loose = outside.get(name);
    if (loose !== undefined) return loose(data, message, extra.authorization);
    const method = methods.get(name);
    if (method?.kind === "translated") {
      // What is too heavy in one of its methods makes all of it too heavy.
      const { authorization: _, ...withoutToken } = extra;
      const inner: TranslationContext["answer"] = (each, of, request) => answerHere(each, of, request, withoutToken);
      return method.answer({ data, hasLeft: extra.hasLeft, answer: inner }, message);
    }
    if (method?.kind !== "unary") throw unknown(name);
    // A method of v1 has checked what it was sent, by its own types: a filter may have a value that v2 does not name.
    if (data.v1 !== true) requireKnownValues(desc, message);
    const call = openCall(data, reader, extra);
    const writes = method.transaction === Transaction.WRITE;
    let isAuthorized = false;
    return attempt<Message | Stored | Streamed>(
      () =>
        after(authorize(desc, ruleOf(method, data), call, message, admins.includes(data.caller.identity)), () => {
          isAuthorized = true;
          requireMessages(desc.input, message);
          return writes ? write(method, data, message) : method.run(call, message);
        }),
      (error) => {
        note(method, data, message, error, { hides: !isAuthorized, writes: writes && !isDryRun(message) });
        throw error;
      },
    );
  };
  const write = async (method: UnaryMethod, data: CallData, message: Message): Promise<Message> => {
    const { desc } = method;
    const name = nameOf(desc);
    const checked = (await checks?.get(name)?.(data, message)) ?? message;
    const ahead = await readAhead?.get(name)?.(data, checked);
    const request = packed(toBinary(desc.input, checked));
    const written = await transactor.write(callMethod, ahead === undefined ? data : { ...data, ahead }, {
      method: name,
      request,
      key: method.keyOf?.(message),
      isDryRun: isDryRun(message),
    });
    return fromBinary(desc.output, unpacked(written));
  };
  const note = (
    { desc, access }: Method,
    data: CallData,
    message: Message,
    error: unknown,
    how: { hides: boolean; writes: boolean },
  ): void => {
    // A caller without any right there gets the same error whether or not the resource exists. Anonymous calls are not
    // recorded as rejections.
    const rejection = data.caller.identity === "" ? undefined : rejectionOf(error, how);
    if (rejection)
      auditor.note(data, { method: nameOf(desc), resource: placesOf(desc, access, message)[0] ?? "", ...rejection });
  };
  const slots = createSlots();
  const stream: Dispatch["stream"] = async function* (desc, data, message, { signal, renew }) {
    const method = methods.get(nameOf(desc));
    if (method?.kind !== "stream") throw unknown(nameOf(desc));
    requireKnownValues(desc, message);
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
