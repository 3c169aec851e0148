import { findGroup } from "../http/groups.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../requests/exchange.ts";
import type { Answer, Protocol } from "../requests/protocol.ts";
import { type NpmPath, npmPathOf } from "./paths.ts";
import { publish, remove, removeTarball, replace } from "./publish.ts";
import { sendPackument, sendTarball, sendVersion } from "./read.ts";
import { answerRegistry, isLogin, noLogin } from "./registry.ts";
import { changeTag, sendTags } from "./tags.ts";

type EitherPath = ReturnType<typeof npmPathOf>;

/** npm's registry API below `/npm/<group path>/`. Source: npm/registry, REGISTRY-API.md; what npm 11 sends. */
export const npmProtocol: Protocol<EitherPath> = {
  paths(exchange) {
    const path = npmPathOf(exchange.segments);
    if (path.kind === "registry" && isLogin(path)) throw noLogin();
    return path;
  },
  async answerTo(exchange, { otherwise, ...first }) {
    return answerTo(exchange, otherwise === undefined ? first : await chosen(exchange, first, otherwise));
  },
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

function answerTo(exchange: LibraryExchange, path: NpmPath): Answer {
  const method = exchange.req.method === "HEAD" ? "GET" : (exchange.req.method ?? "");
  const of = (verb: string, methods: readonly string[], answer: Answer["answer"]): Answer => {
    if (!methods.includes(method)) throw libraryError(405, "The method is not supported here");
    return { verb, answer };
  };
  switch (path.kind) {
    case "package":
      if (method === "PUT") return of("version_put", ["PUT"], () => publish(exchange, path));
      return of("packument_get", ["GET"], () => sendPackument(exchange, path));
    case "version":
      return of("version_get", ["GET"], () => sendVersion(exchange, path));
    case "tarball":
      return of("tarball_get", ["GET"], () => sendTarball(exchange, path));
    case "tags":
      if (method === "GET") return of("tags", ["GET"], () => sendTags(exchange, path));
      return of("tags", ["PUT", "POST", "DELETE"], () => changeTag(exchange, path));
    case "revision":
      return of("unpublish", ["PUT", "DELETE"], () => {
        if (method === "PUT") return replace(exchange, path);
        return (path.file === undefined ? remove : removeTarball)(exchange, path);
      });
    case "registry":
      return { verb: "registry", answer: () => answerRegistry(exchange, path) };
  }
}
