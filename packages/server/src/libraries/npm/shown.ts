import { smallRows, packedRows } from "../requests/rows.ts";
import { type Rendered, renderedAs } from "../requests/rendering.ts";
import { removedOf } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../requests/exchange.ts";
import { requireSome } from "../requests/check.ts";
import { INLINE_BYTES } from "../reading/limits.ts";
import type { FoundPackage } from "./resolve.ts";
import { type Form, packumentKey } from "./render.ts";

/**
 * What a client gets of a package, rendered: from memory, or made here, and of a large package in a task. Throws 404
 * without versions, and 409 when every version is blocked.
 */
export async function renderedPackage(
  exchange: LibraryExchange,
  found: FoundPackage,
  form: Form,
  url: string,
): Promise<Rendered> {
  return await renderedAs(
    packumentKey(found, form, url),
    () => render(exchange, found, form, url),
    exchange.callData.nowMs,
  );
}

async function render(exchange: LibraryExchange, found: FoundPackage, form: Form, url: string): Promise<Rendered> {
  const { group, name, settings, gate, document } = found;
  const { deps, ecosystem } = exchange;
  const named = { group, ecosystem, normalized: name };
  const removed = settings?.isMerged === true ? [...(await read(exchange, ({ tx }) => removedOf(tx, named)))] : [];
  // Read again, so that the package and its versions are of one moment.
  const rows = await smallRows(exchange, named);
  const input = async () => ({
    name,
    form,
    url,
    rows: rows === "large" ? await packedRows(exchange, named) : rows,
    removed,
    document: await document?.input(),
    fetchedMs: document?.fetchedMs,
    judge: gate.data,
  });
  const bytes = (document?.size ?? 0) + (rows === "large" ? INLINE_BYTES + 1 : rows.bytes);
  const output = await deps.reading.run("npm.packument", input, bytes);
  for (const version of output.changed) deps.upstreams.changed({ ecosystem: "npm", group, name, version });
  if ("empty" in output) throw libraryError(404, `Not found: ${name}`);
  requireSome(exchange, gate, "whole" in output ? output.whole : undefined);
  if (!("rendered" in output)) throw new Error("a packument was not rendered");
  return output.rendered;
}
