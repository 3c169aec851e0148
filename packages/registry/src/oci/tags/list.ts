import { statement } from "@moorage/kernel/store";
import { authorize } from "../request.ts";
import type { Exchange } from "../request.ts";
import { rejected } from "../errors.ts";
import { listableRepository } from "../names.ts";
import { sendJson } from "../send.ts";

/** The most tags in a page; the rest follows by the Link. */
const MAX_PAGE = 1000;

// One text instead of a row for each: rows cost twice as much as finding them. The names of tags have no commas.
const selectPage = statement<{ names: string | null }>(
  `select string_agg(name, ',') as names
    from (select name from tags where parent = ? and name > ? order by name limit ?) as page`,
);

/**
 * GET /v2/<name>/tags/list: the tags in the order of their bytes, `n` of them after `last`. Source: OCI distribution
 * specification v1.1, "Listing Tags".
 */
export async function handleTags(exchange: Exchange): Promise<void> {
  await authorize(exchange, ["pull"]);
  const { deps, name, query } = exchange;
  const count = pageSize(query);
  const last = query.get("last") ?? "";
  const found = await deps.transactor.read(exchange.callData, async (call) => {
    const repo = await listableRepository(call, name);
    if (count === 0) return "";
    const [page] = await selectPage(call.tx, repo, last, count + 1);
    return page?.names ?? "";
  });
  const names = found === "" ? [] : found.split(",");
  // The engines put texts together in the order of the rows that they read, but only this promises it.
  names.sort();
  const tags = names.slice(0, count);
  const more =
    names.length > count ? nextOfRepository(exchange, "tags/list", { n: String(count), last: tags.at(-1) ?? "" }) : {};
  sendJson(exchange, 200, { "content-type": "application/json", ...more }, { name, tags });
}

/**
 * The page size from the query's `n`: at most 1000, which is the default. Throws PAGINATION_NUMBER_INVALID 400 when it
 * is not a whole number.
 */
export function pageSize(query: URLSearchParams): number {
  const text = query.get("n");
  if (text === null) return MAX_PAGE;
  if (!/^\d{1,15}$/.test(text))
    throw rejected("PAGINATION_NUMBER_INVALID", { field: "n", description: "must be a whole number, not negative" });
  return Math.min(Number(text), MAX_PAGE);
}

/** The Link header to the next page. Source: RFC 8288. */
export function nextLink(path: string, query: Record<string, string>): { link: string } {
  return { link: `<${path}?${new URLSearchParams(query)}>; rel="next"` };
}

/** The same of a list of the exchange's repository, by the name that the client calls it. */
export function nextOfRepository(
  { name, mirror }: Pick<Exchange, "name" | "mirror">,
  list: string,
  query: Record<string, string>,
): { link: string } {
  const asked = { ...query, ...(mirror?.ns !== undefined && { ns: mirror.ns }) };
  return nextLink(`/v2/${mirror?.name ?? name}/${list}`, asked);
}
