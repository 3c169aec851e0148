import {
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type Message,
} from "@bufbuild/protobuf";
import type { CallData, Caller } from "@moorage/kernel/core/call";
import type { RequestData } from "@moorage/kernel/core/http";
import { RequestSteps } from "@moorage/kernel/core/request-steps";
import type { ResponseCache } from "@moorage/kernel/core/response-cache";
import { isStored, messageOf, type Stored } from "@moorage/kernel/core/stored-answer";
import { collected, isStreamed, type Streamed } from "@moorage/kernel/core/streamed-answer";
import { type AnswerForm, isWritten, type Written } from "@moorage/kernel/core/written-answer";
import { Code, MoorageError, unauthenticated } from "@moorage/kernel/errors";
import { after, type Awaitable } from "@moorage/kernel/lib/awaitable";
import type { Clock } from "@moorage/kernel/lib/clock";
import type { MethodAuthenticator } from "./authenticate.ts";
import type { Dispatch } from "./dispatch.ts";
import type { Answered } from "./response-cache.ts";

/** What a request says about a call before its message is read. */
export interface CallHead<M extends DescMethod = DescMethod> {
  method: M;
  data: RequestData;
  /** The Authorization header, unchanged. */
  authorization: string | undefined;
  userAgent: string;
}

/** How a protocol reads and writes one unary call. `B` is the form in which it sends an answer. */
export interface UnaryCodec<B> {
  /**
   * The key in the response cache: everything that the answer depends on beside the database and the time, including
   * the Authorization header. Undefined when the answer must not be cached.
   */
  key: string | undefined;
  /** The caller, where it was authenticated earlier; the answer must not be cached then. */
  verified?: Awaitable<Caller> | undefined;
  /** Reads the message; called when the caller is authenticated. Undefined when no answer is wanted any more. */
  decode(): Awaitable<Message | undefined>;
  /** The form in which large answers are made. */
  form: AnswerForm;
  encode(answer: Message | Stored | Streamed | Written): Awaitable<B>;
  /** Converts an answer to the form of the response cache, and back. */
  toCached(answer: B): Answered;
  ofCached(answered: Answered): B;
}

/**
 * The steps of every call of the API's methods, in every protocol: rate limits, authentication, response cache and
 * dispatch, which checks rights.
 */
export interface Pipeline {
  /** Throws RESOURCE_EXHAUSTED when too many requests came from the client's address. Called first. */
  admit(data: RequestData): void;
  /**
   * Authenticates the caller, for protocols that must do so before they receive a large message. Throws
   * UNAUTHENTICATED.
   */
  verify(head: CallHead): Awaitable<Caller>;
  /**
   * Authenticates the caller and counts the request for its rate limit, for protocols whose library reads messages and
   * answers.
   */
  identify(head: CallHead): Awaitable<Caller>;
  /** Runs a unary call from authentication to the answer. Undefined when `decode` gives no message. */
  answer<B>(head: CallHead<DescMethodUnary>, codec: UnaryCodec<B>): Awaitable<B | undefined>;
  /** Runs a unary call of an identified caller. */
  unary(head: CallHead<DescMethodUnary>, caller: Caller, message: Message): Promise<Message>;
  /**
   * Runs a streaming call of an identified caller, which is authenticated again while the call runs. Aborting the
   * signal ends it.
   */
  stream(
    head: CallHead<DescMethodServerStreaming>,
    caller: Caller,
    message: Message,
    signal: AbortSignal,
  ): AsyncIterable<Message>;
}

export interface PipelineDeps {
  dispatch: Pick<Dispatch, "answer" | "stream">;
  authenticate: MethodAuthenticator;
  clock: Clock;
  /** Defaults to none: then no answer is cached. */
  cache?: ResponseCache<Answered>;
}

// How many items a list may have in a protocol that cannot send them one by one.
const MAX_COLLECTED = 100_000;
// The largest answer of another process that is read here, for a protocol whose library writes it again.
const MAX_READ_BYTES = 1 << 20;

/** The error for a list that is too long for its protocol. */
function tooManyItems(max: number): MoorageError {
  return new MoorageError(
    Code.ResourceExhausted,
    `Resource exhausted: the list has more than ${max} items, which only REST and gRPC send; narrow it by a filter`,
  );
}

/** The message of an answer that another process has made. Throws RESOURCE_EXHAUSTED when it is large. */
function messageIn({ bytes, release }: Written, { output }: DescMethodUnary): Message {
  release();
  if (bytes.length <= MAX_READ_BYTES) return fromBinary(output, bytes);
  throw new MoorageError(
    Code.ResourceExhausted,
    `Resource exhausted: the answer has ${bytes.length} bytes, more than ${MAX_READ_BYTES}: only REST and gRPC send it`,
  );
}

export function createPipeline({ dispatch, authenticate, clock, cache }: PipelineDeps): Pipeline {
  const verify = ({ authorization, method, data }: CallHead): Awaitable<Caller> =>
    after(authenticate(authorization, method, data), (caller) => {
      if (caller.identity !== "") data.authenticated?.();
      return caller;
    });
  const callData = ({ data, userAgent }: CallHead, caller: Caller): CallData => ({
    caller,
    requestId: data.requestId,
    nowMs: clock.nowMs(),
    agreedMs: clock.agreedMs(),
    remoteAddress: data.remoteAddress,
    userAgent,
  });
  const dispatched = (
    head: CallHead<DescMethodUnary>,
    caller: Caller,
    message: Message,
    form: AnswerForm,
  ): Awaitable<Message | Stored | Streamed | Written> =>
    dispatch.answer(head.method, callData(head, caller), message, {
      authorization: head.authorization ?? "",
      hasLeft: head.data.hasLeft,
      form,
    });
  return {
    admit: (data) => new RequestSteps(data).admit(),
    verify,
    identify: (head) => new RequestSteps(head.data).identify(() => verify(head)),
    answer<B>(head: CallHead<DescMethodUnary>, codec: UnaryCodec<B>) {
      const steps = new RequestSteps(head.data, cache);
      const encoded = (answered: Message | Stored | Streamed | Written): ReturnType<typeof codec.encode> =>
        after(codec.encode(answered), (answer) => {
          // What another process has made is larger than what is kept.
          if (codec.key !== undefined && !isWritten(answered) && !(isStored(answered) && answered.isUncached)) {
            const kept = codec.toCached(answer);
            steps.keep(kept.text.length, () => kept);
          }
          return answer;
        });
      const worked = (): Awaitable<B | undefined> =>
        after(
          steps.identify(() => codec.verified ?? verify(head)),
          (caller) =>
            after(codec.decode(), (message) =>
              message === undefined ? undefined : after(dispatched(head, caller, message, codec.form), encoded),
            ),
        );
      return after(steps.cached(codec.key, clock.nowMs()), (known) =>
        known === undefined ? worked() : codec.ofCached(known.answer),
      );
    },
    unary: async (head, caller, message) => {
      const answered = await dispatched(head, caller, message, "binary");
      if (isWritten(answered)) return messageIn(answered, head.method);
      if (!isStreamed(answered)) return messageOf(answered);
      const whole = await collected(answered, { max: MAX_COLLECTED, maxBytes: MAX_READ_BYTES });
      if (whole === undefined) throw tooManyItems(MAX_COLLECTED);
      return whole;
    },
    stream: (head, caller, message, signal) =>
      dispatch.stream(head.method, callData(head, caller), message, {
        signal,
        renew: async () => {
          // An expired token is not recorded as a rejection, unlike one that was never valid.
          if (caller.expiresAtMs !== undefined && caller.expiresAtMs <= clock.nowMs())
            throw unauthenticated("the token has ended");
          return callData(head, await verify(head));
        },
      }),
  };
}
