import { rejectionOf } from "../audit/index.ts";
import { rejectedCaller } from "../auth/index.ts";
import type { RequestHandler } from "../core/http.ts";
import { Code, MoorageError, unconflicted } from "../errors.ts";
import { type EcosystemKey, ECOSYSTEMS } from "./ecosystems.ts";
import { mavenProtocol } from "./maven/protocol.ts";
import { npmProtocol } from "./npm/protocol.ts";
import { pypiProtocol } from "./pypi/protocol.ts";
import { cachedAnswer } from "./requests/cache.ts";
import { libraryAnswer, libraryError } from "./http/errors.ts";
import { type LibraryDeps, type LibraryExchange, openExchange } from "./requests/exchange.ts";
import { send, sendCached } from "./requests/send.ts";

/** What an ecosystem's part of the server answers. */
export interface Protocol {
  /** Answers a request, or throws. `verb`: names what is asked for, in metrics: from a bounded set. */
  answer(exchange: LibraryExchange, verb: (name: string) => void): Promise<void>;
  /** The body of an error, in the form that the ecosystem's clients print. */
  errorBody(message: string): { contentType: string; text: string };
}

const PROTOCOLS: Readonly<Partial<Record<EcosystemKey, Protocol>>> = {
  npm: npmProtocol,
  pypi: pypiProtocol,
  maven: mavenProtocol,
};

/** The handler of the paths below `/npm/`, `/pypi/` and `/maven/`. `matches` takes the path without the query. */
export interface LibraryHandler {
  matches(path: string): boolean;
  handle: RequestHandler;
}

/** The handler of the protocols of libraries. `handle` answers every request itself and never throws. */
export function libraryHandler(deps: LibraryDeps): LibraryHandler {
  return {
    matches: (path) => protocolOf(path) !== undefined,
    async handle(req, res, data) {
      const url = req.url ?? "/";
      const cut = url.indexOf("?");
      const path = cut < 0 ? url : url.slice(0, cut);
      const key = protocolOf(path) ?? "npm";
      const texts = path.slice(key.length + 2).split("/");
      const exchange = openExchange(req, res, data, deps, {
        ecosystem: ECOSYSTEMS[key],
        segments: texts,
        query: new URLSearchParams(cut < 0 ? "" : url.slice(cut + 1)),
      });
      const verb = (name: string): void => {
        exchange.verb = name;
        data.observed?.beginVerb(`${key}_${name}`);
      };
      try {
        exchange.steps.admit();
        const cached = await cachedAnswer(exchange);
        if (cached !== undefined) {
          verb(cached.verb);
          return sendCached(exchange, cached);
        }
        exchange.segments = texts.map(decoded);
        await PROTOCOLS[key]?.answer(exchange, verb);
      } catch (error) {
        verb("other");
        noteRejection(exchange, error);
        answerError(exchange, error);
      }
    },
  };
}

function protocolOf(path: string): EcosystemKey | undefined {
  const key = path.slice(1, Math.max(1, path.indexOf("/", 1)));
  return Object.hasOwn(PROTOCOLS, key) ? (key as EcosystemKey) : undefined;
}

function decoded(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw libraryError(400, "Invalid argument: path: is not valid percent-encoding");
  }
}

/** Records a rejected request in the audit log, as the registry does: not one that only lacks credentials. */
function noteRejection({ req, deps, ecosystem, caller, callData }: LibraryExchange, error: unknown): void {
  const verb = req.method === "GET" || req.method === "HEAD" ? "read" : "write";
  const rejection = rejectionOf(error, { writes: verb === "write" });
  if (rejection === undefined) return;
  if (rejection.code === Code.Unauthenticated && (caller.identity !== "" || req.headers.authorization === undefined))
    return;
  const rejected = rejectedCaller(error) ?? caller;
  deps.auditor.note(
    { ...callData, caller: rejected },
    { method: `libraries.${ecosystem.key}.${verb}`, resource: rejected.identity, ...rejection },
  );
}

// HTTP/1.1 has the reason beside the status, which is all that some clients print.
const REASON = /[^\x20-\x7e]+/g;
const MAX_REASON_CHARS = 300;

/** Answers an error in the form of the ecosystem's clients. */
function answerError(exchange: LibraryExchange, thrown: unknown): void {
  const { req, res, data, deps, ecosystem } = exchange;
  const { status, message, headers, error } = libraryAnswer(unconflicted(thrown, req.method), data.requestId);
  const aborted = req.destroyed && !req.complete;
  const isUnexpected = error.code === Code.Internal || !(thrown instanceof MoorageError);
  if (isUnexpected && !aborted && !res.destroyed)
    deps.log.error({ requestId: data.requestId, err: thrown }, "library request failed");
  if (res.headersSent || res.destroyed || aborted) return void res.destroy();
  for (const name of ["etag", "cache-control", "accept-ranges"]) res.removeHeader(name);
  if (!("stream" in res)) res.statusMessage = message.replaceAll(REASON, " ").slice(0, MAX_REASON_CHARS);
  const { contentType, text } = PROTOCOLS[ecosystem.key]?.errorBody(message) ?? { contentType: "", text: "" };
  send(exchange, status, { ...headers, "content-type": contentType, "cache-control": "no-store" }, Buffer.from(text));
  // The rest of the request body is discarded, so that the connection can be reused.
  if (!req.complete) req.resume();
}
