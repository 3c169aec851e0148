import { Capability } from "@moorage/api/messages";
import { authenticate, unauthorized } from "../request.ts";
import type { Exchange } from "../request.ts";
import { sendJson } from "../send.ts";
import { nextLink, pageSize } from "../tags/list.ts";
import { CATALOG_SCOPE } from "../token/scopes.ts";
import { catalogRoots } from "./roots.ts";
import { listCatalog } from "./walk.ts";

/**
 * GET /v2/_catalog: the names of the repositories that the caller may see, and of those in the public organization, `n`
 * of them after `last`, in the order of their segments. `last` need not exist. A page may be short, and even empty,
 * while its Link leads on. A token that is limited to repositories needs the scope `registry:catalog:*`, with which
 * everybody gets one. Source: the Docker registry API, "Catalog"; distribution token scope documentation.
 */
export async function handleCatalog(exchange: Exchange): Promise<void> {
  const { deps, query } = exchange;
  const caller = await authenticate(exchange, CATALOG_SCOPE);
  if (caller.repositories !== undefined && caller.catalog !== true) {
    const message = "Unauthenticated: the token does not cover the list of repositories";
    throw unauthorized(exchange, CATALOG_SCOPE, message, "insufficient_scope");
  }
  const count = pageSize(query);
  const after = (query.get("last") ?? "").split("/").filter((segment) => segment !== "");
  const { names, next } = await deps.transactor.read(exchange.callData, async (call) => {
    if (count === 0) return { names: [], next: undefined };
    const roots = await catalogRoots(call.tx, deps.config, await call.visible(Capability.CAP_REPO_LIST));
    return listCatalog(call.tx, roots, after, count);
  });
  const more = next === undefined ? {} : nextLink("/v2/_catalog", { n: String(count), last: next });
  sendJson(exchange, 200, { "content-type": "application/json", ...more }, { repositories: names });
}
