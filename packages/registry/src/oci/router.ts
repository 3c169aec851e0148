import type { RequestHandler } from "@moorage/kernel/core/http";
import { after, attempt } from "@moorage/kernel/lib/awaitable";
import { noteRejection } from "./audit.ts";
import { handleBlob } from "./blobs/handler.ts";
import { authorize, type Exchange, openExchange, type RegistryDeps } from "./request.ts";
import { isDigest, isRepositoryName } from "./digests.ts";
import { RegistryError } from "./errors.ts";
import { withPushHint } from "./push-hint.ts";
import { handleCatalog } from "./catalog/handler.ts";
import { handleExtensions } from "./extensions.ts";
import { handleHistory } from "./tags/history.ts";
import { handleManifest } from "./manifests/handler.ts";
import { enterMirror } from "./mirror-host.ts";
import { handleReferrers } from "./manifests/referrers.ts";
import { answerFromCache } from "./pulls/cache.ts";
import { readQuery } from "./query.ts";
import { sendJson } from "./send.ts";
import { handleTagHistory } from "./tags/history-extension.ts";
import { handleTags } from "./tags/list.ts";
import { handleUpload, handleUploads } from "./blobs/uploads.ts";
import { answerError } from "./answer-error.ts";

/** An endpoint. `kind` and the method make the verb under which requests are counted, such as `manifest_get`. */
interface Route {
  kind: string;
  name: string;
  methods: string[];
  run: (exchange: Exchange) => Promise<void>;
}

/** The handler of the paths below `/v2/`. `matches` takes the path without the query. */
export interface RegistryHandler {
  matches(path: string): boolean;
  handle: RequestHandler;
}

/**
 * The handler of the OCI distribution API v1.1 and of the tag history. `handle` answers every request itself and never
 * throws.
 */
export function registryHandler(deps: RegistryDeps): RegistryHandler {
  return {
    matches: (path) => path === "/v2" || path.startsWith("/v2/"),
    handle(req, res, data) {
      const exchange = openExchange(req, res, data, deps, "", NO_QUERY, API_VERSION);
      return attempt(
        () => {
          exchange.steps.admit();
          const mirror = deps.addresses.mirror(req);
          if (mirror !== undefined) return runRoute(exchange, mirror);
          return after(answerFromCache(exchange), (isAnswered) => (isAnswered ? undefined : runRoute(exchange)));
        },
        (error) => answerFailure(exchange, error),
      );
    },
  };
}

async function runRoute(exchange: Exchange, mirror?: { origin: string; group: string }): Promise<void> {
  const { req, data, deps } = exchange;
  const url = req.url ?? "/";
  const cut = url.indexOf("?");
  if (cut >= 0) exchange.query = readQuery(url.slice(cut + 1));
  const route = findRoute(cut < 0 ? url : url.slice(0, cut), deps.config.historySegments);
  exchange.name = route.name;
  if (mirror !== undefined) await enterMirror(exchange, mirror);
  if (!route.methods.includes(req.method ?? "")) {
    throw new RegistryError("UNSUPPORTED", "The method is not supported here", {
      headers: { allow: route.methods.join(", ") },
    });
  }
  data.observed?.beginVerb(`${route.kind}_${VERBS[req.method ?? ""] ?? ""}`);
  await route.run(exchange);
}

async function answerFailure(exchange: Exchange, error: unknown): Promise<void> {
  exchange.data.observed?.beginVerb("other");
  noteRejection(exchange, error);
  answerError(exchange, await withPushHint(exchange, error));
}

const NO_QUERY = new URLSearchParams();
const API_VERSION = ["docker-distribution-api-version", "registry/2.0"];
const VERBS: Record<string, string> = {
  GET: "get",
  HEAD: "head",
  POST: "post",
  PUT: "put",
  PATCH: "patch",
  DELETE: "delete",
};

/**
 * Finds the endpoint of a path. It matches from the end of the path, since a name has any number of segments. Throws
 * UNSUPPORTED 404, NAME_INVALID or DIGEST_INVALID.
 */
function findRoute(path: string, historySegments: string[]): Route {
  const texts = path.slice("/v2/".length).split("/");
  const parts = path.includes("%") ? texts.map(decoded) : texts;
  if (path === "/v2/_catalog") return { kind: "catalog", name: "", methods: ["GET", "HEAD"], run: handleCatalog };
  const [third = "", second = "", last = ""] = [parts.at(-3), parts.at(-2), parts.at(-1)];
  const named = (kind: string, depth: number, methods: string[], run: Route["run"]): Route => {
    const name = parts.slice(0, -depth).join("/");
    if (!isRepositoryName(name))
      throw new RegistryError("NAME_INVALID", "The repository name is invalid", { detail: { name } });
    return { kind, name, methods, run };
  };
  if (parts.length === 1 && last === "") return { kind: "base", name: "", methods: ["GET", "HEAD"], run: answerBase };
  if (third === "blobs" && second === "uploads") {
    if (last === "") return named("uploads", 3, ["POST"], handleUploads);
    return named("upload", 3, ["GET", "PATCH", "PUT", "DELETE"], (exchange) =>
      handleUpload(exchange, { upload: last }),
    );
  }
  if (second === "blobs" && last === "uploads") return named("uploads", 2, ["POST"], handleUploads);
  if (second === "blobs") {
    const route = named("blob", 2, ["GET", "HEAD", "DELETE"], (exchange) => handleBlob(exchange, { digest: last }));
    requireDigest(last);
    return route;
  }
  // A reference that is neither a tag nor a digest is a manifest that does not exist: the handler answers 404 to a
  // pull, and 400 to a push.
  if (second === "manifests")
    return named("manifest", 2, ["GET", "HEAD", "PUT", "DELETE"], (exchange) =>
      handleManifest(exchange, { reference: last }),
    );
  if (second === "tags" && last === "list")
    return named("tags", 2, ["GET", "HEAD"], (exchange) => handleTags(exchange));
  if (second === "referrers") {
    const route = named("referrers", 2, ["GET", "HEAD"], (exchange) => handleReferrers(exchange, { digest: last }));
    requireDigest(last);
    return route;
  }
  if (second === "history" && historySegments.includes(third))
    return named("history", 3, ["GET", "HEAD"], (exchange) => handleHistory(exchange, { tag: last }));
  // These cannot be image names: no segment of a name begins with an underscore.
  if (third === "_oci" && second === "tag-history")
    return named("tag_history", 3, ["GET", "HEAD"], (exchange) => handleTagHistory(exchange, { tag: last }));
  if (third === "_oci" && second === "ext" && last === "discover") {
    if (parts.length === 3) return { kind: "extensions", name: "", methods: ["GET", "HEAD"], run: handleExtensions };
    return named("extensions", 3, ["GET", "HEAD"], handleExtensions);
  }
  throw new RegistryError("UNSUPPORTED", "There is nothing at this path", { status: 404 });
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new RegistryError("NAME_INVALID", "The path is not valid percent-encoding");
  }
}

function requireDigest(digest: string): void {
  if (!isDigest(digest))
    throw new RegistryError("DIGEST_INVALID", "The reference is neither a digest nor a tag", { detail: { digest } });
}

/** Answers `/v2/`, by which clients check the API version and their token. */
async function answerBase(exchange: Exchange): Promise<void> {
  await authorize(exchange, []);
  sendJson(exchange, 200, { "content-type": "application/json" }, {});
}
