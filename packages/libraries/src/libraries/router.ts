import { rejectionOf } from "@moorage/kernel/audit";
import { rejectedCaller } from "@moorage/platform/auth";
import type { RequestHandler } from "@moorage/kernel/core/http";
import { Code, MoorageError, unconflicted } from "@moorage/kernel/errors";
import { libraryAnswer, libraryError } from "./http/errors.ts";
import { authenticate } from "./requests/authenticate.ts";
import { cachedAnswer } from "./requests/cache.ts";
import { type LibraryDeps, type LibraryExchange, openExchange } from "./requests/exchange.ts";
import type { Protocol, ServedEcosystem } from "./requests/protocol.ts";
import { send, sendCached } from "./requests/send.ts";

/** The handler of the paths of ecosystems, such as `/npm/`. `matches` takes the path without the query. */
interface LibraryHandler {
  matches(path: string): boolean;
  handle: RequestHandler;
}

/** What the handler works with. */
interface LibraryHandlerDeps extends LibraryDeps {
  /** Those that are served. */
  ecosystems: readonly ServedEcosystem[];
}

/** The handler of the protocols of libraries. `handle` answers every request itself and never throws. */
export function libraryHandler({ ecosystems, ...deps }: LibraryHandlerDeps): LibraryHandler {
  const byKey = new Map(ecosystems.map((each) => [each.key, each]));
  const protocols = new Map<ServedEcosystem, Protocol>();
  const served = (path: string): ServedEcosystem | undefined =>
    byKey.get(path.slice(1, Math.max(1, path.indexOf("/", 1))));
  const protocolOf = async (ecosystem: ServedEcosystem): Promise<Protocol> => {
    const found = protocols.get(ecosystem) ?? (await ecosystem.protocol());
    protocols.set(ecosystem, found);
    return found;
  };
  return {
    matches: (path) => served(path) !== undefined,
    async handle(req, res, data) {
      const url = req.url ?? "/";
      const cut = url.indexOf("?");
      const path = cut < 0 ? url : url.slice(0, cut);
      const ecosystem = served(path);
      if (ecosystem === undefined) throw new Error(`no ecosystem has the path ${path}`);
      const texts = path.slice(ecosystem.key.length + 2).split("/");
      const query = new URLSearchParams(cut < 0 ? "" : url.slice(cut + 1));
      const exchange = openExchange(req, res, data, deps, { ecosystem, segments: texts, query });
      const begin = (verb: string): void => {
        exchange.verb = verb;
        data.observed?.beginVerb(`${ecosystem.key}_${verb}`);
      };
      try {
        exchange.steps.admit();
        const cached = await cachedAnswer(exchange);
        if (cached !== undefined) {
          begin(cached.answer.verb);
          return sendCached(exchange, cached);
        }
        exchange.segments = texts.map(decoded);
        const protocol = await protocolOf(ecosystem);
        const asked = protocol.paths(exchange);
        await authenticate(exchange, asked.group);
        const { verb, answer } = await protocol.answerTo(exchange, asked);
        begin(verb);
        await answer();
      } catch (error) {
        begin("other");
        noteRejection(exchange, error);
        answerError(exchange, error, ecosystem);
      }
    },
  };
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
function answerError(exchange: LibraryExchange, thrown: unknown, { errorBody }: ServedEcosystem): void {
  const { req, res, data, deps } = exchange;
  const { status, message, headers, error } = libraryAnswer(unconflicted(thrown, req.method), data.requestId);
  const aborted = req.destroyed && !req.complete;
  const isUnexpected = error.code === Code.Internal || !(thrown instanceof MoorageError);
  if (isUnexpected && !aborted && !res.destroyed)
    deps.log.error({ requestId: data.requestId, err: thrown }, "library request failed");
  if (res.headersSent || res.destroyed || aborted) return void res.destroy();
  for (const name of ["etag", "cache-control", "accept-ranges"]) res.removeHeader(name);
  if (!("stream" in res)) res.statusMessage = message.replaceAll(REASON, " ").slice(0, MAX_REASON_CHARS);
  const { contentType, text } = errorBody(message);
  send(exchange, status, { ...headers, "content-type": contentType, "cache-control": "no-store" }, Buffer.from(text));
  // The rest of the request body is discarded, so that the connection can be reused.
  if (!req.complete) req.resume();
}
