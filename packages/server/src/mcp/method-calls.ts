import {
  create,
  type DescMessage,
  type DescMethodUnary,
  isMessage,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import type { Caller } from "@moorage/kernel/core/call";
import type { RequestData } from "@moorage/kernel/core/http";
import { Code, MoorageError } from "@moorage/kernel/errors";
import type { Pipeline } from "../runtime/pipeline.ts";

/** A request of MCP, whose caller is authenticated. */
export interface McpRequest {
  caller: Caller;
  data: RequestData;
  authorization: string | undefined;
  userAgent: string;
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
}

/** Calls a method of the API as the caller of the request. Throws the method's MoorageErrors. */
export type CallMethod = <I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  message: MessageInitShape<I>,
) => Promise<MessageShape<O>>;

/**
 * Calls methods of the API the way that every protocol does: with the caller's own rights, counted for its rate limit,
 * audited. Only the methods that the tool names may be called, because its annotations are made of these alone.
 */
export function methodCalls(
  pipeline: Pick<Pipeline, "unary">,
  { caller, data, authorization, userAgent, signal }: McpRequest,
  methods: ReadonlySet<DescMethodUnary>,
): CallMethod {
  const hasLeft = (): boolean => signal.aborted || data.hasLeft?.() === true;
  return async (method, message) => {
    if (!methods.has(method)) throw new TypeError(`${method.toString()} is not among the methods of the tool`);
    if (hasLeft()) throw new MoorageError(Code.Aborted, "Aborted: the call took too long, or its caller has left");
    data.admit?.(caller.identity);
    const head = { method, data: { ...data, hasLeft }, authorization, userAgent };
    const answer = await pipeline.unary(head, caller, create(method.input, message));
    if (!isMessage(answer, method.output)) throw new TypeError(`${method.toString()} answered another message`);
    return answer;
  };
}
