import type { DescMethod, DescMethodServerStreaming, DescMethodUnary, Message } from "@bufbuild/protobuf";
import type { CallData, Caller } from "../core/call.ts";
import type { RequestData } from "../core/http.ts";
import { RequestSteps } from "../core/request-steps.ts";
import type { ResponseCache } from "../core/response-cache.ts";
import { messageOf, type Stored } from "../core/stored.ts";
import { unauthenticated } from "../errors.ts";
import type { Clock } from "../lib/clock.ts";
import type { MethodAuthenticator } from "./authenticate.ts";
import type { Dispatch } from "./dispatch.ts";
import type { Answered } from "./response-cache.ts";

/** What a request says of a call before its message is read. */
export interface CallHead<M extends DescMethod = DescMethod> {
  method: M;
  data: RequestData;
  /** The Authorization header as it was sent. */
  authorization: string | undefined;
  userAgent: string;
}

/** How a protocol reads and writes one unary call. `B`: an answer as it is sent. */
export interface UnaryCodec<B> {
  /**
   * All that the answer depends on beside the database and the time, the Authorization header among it. Undefined: the
   * answer is not kept.
   */
  key: string | undefined;
  /** Who calls, where that had to be found out before: the answer must not be kept then. */
  verified?: Promise<Caller> | undefined;
  /** Reads the message; asked when the caller is known. Undefined: nobody waits for an answer any more. */
  decode(): Promise<Message | undefined>;
  encode(answer: Message | Stored): B;
  /** The answer as the response cache has it, and back. */
  toCached(answer: B): Answered;
  ofCached(answered: Answered): B;
}

/**
 * The way of every call of the API's methods, whatever protocol it came by: rate limits, authentication, response cache
 * and dispatch, which asks for rights.
 */
export interface Pipeline {
  /** Throws RESOURCE_EXHAUSTED where too many requests came from the client's address. Asked first. */
  admit(data: RequestData): void;
  /** Who calls. Throws UNAUTHENTICATED. For protocols that must know it before they take a large message in. */
  verify(head: CallHead): Promise<Caller>;
  /** Who calls, counted; for protocols that read messages and answer by a library. */
  identify(head: CallHead): Promise<Caller>;
  /** A unary call from its authentication to its answer. Undefined: see `decode`. */
  answer<B>(head: CallHead<DescMethodUnary>, codec: UnaryCodec<B>): Promise<B | undefined>;
  /** A unary call of an identified caller. */
  unary(head: CallHead<DescMethodUnary>, caller: Caller, message: Message): Promise<Message>;
  /** A streaming call of an identified caller, who is verified again as long as it goes on. The signal ends it. */
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
  /** Absent: every call is worked on. */
  cache?: ResponseCache<Answered>;
}

export function createPipeline({ dispatch, authenticate, clock, cache }: PipelineDeps): Pipeline {
  const verify = ({ authorization, method, data }: CallHead): Promise<Caller> =>
    authenticate(authorization, method, data);
  const callData = ({ data, userAgent }: CallHead, caller: Caller): CallData => ({
    caller,
    requestId: data.requestId,
    nowMs: clock.nowMs(),
    remoteAddress: data.remoteAddress,
    userAgent,
  });
  const dispatched = (head: CallHead<DescMethodUnary>, caller: Caller, message: Message): Promise<Message | Stored> =>
    dispatch.answer(head.method, callData(head, caller), message, { authorization: head.authorization ?? "" });
  return {
    admit: (data) => new RequestSteps(data).admit(),
    verify,
    identify: (head) => new RequestSteps(head.data).identify(() => verify(head)),
    async answer(head, codec) {
      const steps = new RequestSteps(head.data, cache);
      const known = steps.cached(codec.key, clock.nowMs());
      if (known !== undefined) return codec.ofCached(known.answer);
      const caller = await steps.identify(() => codec.verified ?? verify(head));
      const message = await codec.decode();
      if (message === undefined) return undefined;
      const answer = codec.encode(await dispatched(head, caller, message));
      if (codec.key !== undefined) {
        const answered = codec.toCached(answer);
        steps.keep(answered.text.length, () => answered);
      }
      return answer;
    },
    unary: async (head, caller, message) => messageOf(await dispatched(head, caller, message)),
    stream: (head, caller, message, signal) =>
      dispatch.stream(head.method, callData(head, caller), message, {
        signal,
        renew: async () => {
          // That a token ends is not noted, unlike one that was never good.
          if (caller.expiresAtMs !== undefined && caller.expiresAtMs <= clock.nowMs())
            throw unauthenticated("the token has ended");
          return callData(head, await verify(head));
        },
      }),
  };
}
