import type { DescMethodUnary, DescService, Message } from "@bufbuild/protobuf";
import type { Request, RequestData, RequestHandler } from "@moorage/kernel/core/http";
import type { Stored } from "@moorage/kernel/core/stored-answer";
import { isStreamed, type Streamed } from "@moorage/kernel/core/streamed-answer";
import { isWritten, type Written } from "@moorage/kernel/core/written-answer";
import { Code, MoorageError, unconflicted } from "@moorage/kernel/errors";
import { after, attempt, type Awaitable } from "@moorage/kernel/lib/awaitable";
import { etagOf } from "@moorage/kernel/lib/etags";
import type { Pipeline, UnaryCodec } from "../../runtime/pipeline.ts";
import { type Answered, isCacheable } from "../../runtime/response-cache.ts";
import { jsonEncoder } from "./encode.ts";
import { answerOk } from "./send.ts";
import { answerError } from "../http/answer-error.ts";
import { answerStreamed } from "./send-stream.ts";
import { answerWritten } from "./send-bytes.ts";
import { readJsonBody } from "./body.ts";
import { compileDecoder, type Decode, type ViolationsOf } from "./decode.ts";
import { type Binding, bindingsOf, compileRoutes, type Match } from "./routes.ts";
import { areaOf, asMoorageError, type ErrorLog } from "../status.ts";

export interface RestOptions {
  pipeline: Pick<Pipeline, "answer">;
  services: readonly DescService[];
  /** The rules of fields, which complete the violations of a body that is wrong in other ways already. */
  violationsOf: ViolationsOf;
  /** The suffix of ErrorInfo's domain; the area comes before it, as in `iam.`. */
  errorDomain: string;
  log: ErrorLog;
  /** Defaults to 1 MiB. */
  maxBodyBytes?: number;
  /** How long the whole body may take to arrive. Defaults to 30 seconds. */
  bodyTimeoutMs?: number;
}

export interface RestHandler {
  /** Whether the path (without its query) begins with the name of an API area, whether or not the path exists. */
  matches(path: string): boolean;
  /** Answers the request, whatever its path. Never rejects. */
  handle: RequestHandler;
}

interface Route {
  method: DescMethodUnary;
  /** The method's full name, as in metrics. */
  name: string;
  area: string;
  takesBody: boolean;
  /** Whether its answers have an entity tag: those to GET and HEAD. */
  isTagged: boolean;
  /** Whether its answers may be cached. */
  isCached: boolean;
  decode: Decode;
  encode: (answer: Message | Stored) => string;
}

const DEFAULT_MAX_BODY_BYTES = 1024 * 1024;
const DEFAULT_BODY_TIMEOUT_MS = 30_000;
const MAX_USER_AGENT_LENGTH = 512;

/**
 * The REST handler: transcodes the google.api.http bindings of the services, compiled once, to calls of the pipeline.
 * Throws at boot for a binding that it cannot serve. Source: docs/contract.md, "Resource names" to "Errors".
 */
export function restHandler(options: RestOptions): RestHandler {
  const routes = compileRoutes(bindingsOf(options.services), (binding) => routeOf(binding, options.violationsOf));
  return {
    matches: (path) => routes.area(path) !== undefined,
    handle: (request, response, data) => {
      const url = request.url ?? "";
      const mark = url.indexOf("?");
      const path = mark < 0 ? url : url.slice(0, mark);
      const context = { requestId: data.requestId, headersOnly: request.method === "HEAD" };
      const match = routes.match(request.method ?? "", path);
      if (match === undefined || "allow" in match) {
        const area = routes.area(path) ?? "platform";
        return answerError(response, unrouted(match), area, options.errorDomain, context, match?.allow);
      }
      const { target, values } = match;
      data.observed?.beginRpc(target.name);
      return attempt(
        () =>
          after(call(target, values, mark < 0 ? "" : url.slice(mark + 1), request, data, options), (answered) => {
            if (answered !== undefined && isStreamed(answered))
              return after(answerStreamed(response, answered, context, options.log), () => data.observed?.endRpc(0));
            if (answered !== undefined && isWritten(answered))
              return after(
                answerWritten(response, answered, { ...context, ...target }, request.headers["if-none-match"]),
                () => data.observed?.endRpc(0),
              );
            data.observed?.endRpc(0);
            if (answered !== undefined) answerOk(response, answered, context, request.headers["if-none-match"]);
          }),
        (error) => {
          const shown = asMoorageError(unconflicted(error, request.method), options.log, data.requestId);
          data.observed?.endRpc(shown.code);
          answerError(response, shown, target.area, options.errorDomain, context);
        },
      );
    },
  };
}

function routeOf(binding: Binding, violationsOf: ViolationsOf): Route {
  const { input, parent } = binding.method;
  if (binding.verb === "GET" && binding.body !== "") throw new Error(`${input.typeName} has a body in a GET`);
  return {
    method: binding.method,
    name: `${parent.typeName}.${binding.method.name}`,
    area: areaOf(parent.typeName),
    takesBody: binding.body !== "",
    isTagged: binding.verb === "GET",
    isCached: binding.verb === "GET" && isCacheable(binding.method),
    decode: compileDecoder(binding, violationsOf),
    encode: jsonEncoder(binding.method),
  };
}

function call(
  { method, decode, encode, isCached, isTagged, takesBody }: Route,
  values: string[],
  query: string,
  request: Request,
  data: RequestData,
  options: RestOptions,
): Awaitable<Answered | Streamed | Written | undefined> {
  const { authorization, "user-agent": userAgent = "" } = request.headers;
  const head = { method, data, authorization, userAgent: userAgent.slice(0, MAX_USER_AGENT_LENGTH) };
  return options.pipeline.answer<Answered | Streamed | Written>(head, {
    ...AS_CACHED,
    key: isCached && authorization !== undefined ? `${request.url} ${authorization}` : undefined,
    decode() {
      if (!takesBody) return decode(values, query, undefined);
      const { maxBodyBytes: maxBytes = DEFAULT_MAX_BODY_BYTES, bodyTimeoutMs: timeoutMs = DEFAULT_BODY_TIMEOUT_MS } =
        options;
      return after(readJsonBody(request, { maxBytes, timeoutMs }), (json) => decode(values, query, json));
    },
    encode(answer) {
      if (isStreamed(answer) || isWritten(answer)) return answer;
      const text = encode(answer);
      return isTagged ? { text, etag: etagOf(text) } : { text };
    },
  });
}

/** The response cache holds answers in the form in which they are sent. */
const AS_CACHED: Pick<UnaryCodec<Answered | Streamed | Written>, "form" | "toCached" | "ofCached"> = {
  form: "json",
  // Lists that are read while they are sent have no key.
  toCached: (answer) => ("text" in answer ? answer : { text: "" }),
  ofCached: (answered) => answered,
};

function unrouted(match: Match<Route> | undefined): MoorageError {
  if (match === undefined) return new MoorageError(Code.NotFound, "Not found: there is nothing at this path");
  return new MoorageError(Code.Unimplemented, "Unimplemented: the path does not take this method");
}
