import { findGroup } from "../http/groups.ts";
import { authenticate } from "../requests/authenticate.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../requests/exchange.ts";
import type { Protocol } from "../router.ts";
import { type NpmPath, npmPathOf } from "./paths.ts";
import { publish, remove, removeTarball, replace } from "./publish.ts";
import { sendPackument, sendTarball, sendVersion } from "./read-version.ts";
import { answerRegistry, isLogin, noLogin } from "./registry.ts";
import { changeTag, sendTags } from "./tags.ts";

/** npm's registry API below `/npm/<group path>/`. Source: npm/registry, REGISTRY-API.md; what npm 11 sends. */
export const npmProtocol: Protocol = {
  async answer(exchange, verb) {
    const { otherwise, ...first } = npmPathOf(exchange.segments);
    if (first.kind === "registry" && isLogin(first)) throw noLogin();
    await authenticate(exchange, first.group[0] ?? "");
    const path = otherwise === undefined ? first : await chosen(exchange, first, otherwise);
    await dispatch(exchange, path, verb);
  },
  errorBody: (message) => ({ contentType: "application/json", text: JSON.stringify({ error: message }) }),
};

/** The reading of the path whose group is there and may be read; the first one where neither is. */
async function chosen(exchange: LibraryExchange, first: NpmPath, otherwise: NpmPath): Promise<NpmPath> {
  if (exchange.req.method !== "GET" && exchange.req.method !== "HEAD") return first;
  return await read(exchange, async (call) => {
    for (const path of [first, otherwise]) {
      const { group } = await findGroup(call, path.group);
      if (group !== undefined && (await call.may(exchange.ecosystem.read, group))) return path;
    }
    return first;
  });
}

async function dispatch(exchange: LibraryExchange, path: NpmPath, verb: (name: string) => void): Promise<void> {
  const method = exchange.req.method === "HEAD" ? "GET" : (exchange.req.method ?? "");
  const of = (name: string, ...methods: string[]): void => {
    if (!methods.includes(method)) throw libraryError(405, "The method is not supported here");
    verb(name);
  };
  switch (path.kind) {
    case "package":
      of(method === "PUT" ? "version_put" : "packument_get", "GET", "PUT");
      return await (method === "PUT" ? publish : sendPackument)(exchange, path);
    case "version":
      of("version_get", "GET");
      return await sendVersion(exchange, path);
    case "tarball":
      of("tarball_get", "GET");
      return await sendTarball(exchange, path);
    case "tags":
      of("tags", "GET", "PUT", "POST", "DELETE");
      return await (method === "GET" ? sendTags : changeTag)(exchange, path);
    case "revision":
      of("unpublish", "PUT", "DELETE");
      if (method === "PUT") return await replace(exchange, path);
      return await (path.file === undefined ? remove : removeTarball)(exchange, path);
    case "registry":
      verb("registry");
      return await answerRegistry(exchange, path);
  }
}
