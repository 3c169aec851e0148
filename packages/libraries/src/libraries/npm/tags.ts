import { wholeBodyOf } from "@moorage/registry/oci";
import { wholeText } from "../requests/rendering.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, urlOf } from "../requests/exchange.ts";
import { send, sendJson } from "../requests/send.ts";
import { noteBlocked } from "../requests/check.ts";
import { changeTarget, makeChange } from "../requests/publish.ts";
import { requireTag } from "./document.ts";
import { findPackage } from "./resolve.ts";
import { renderedPackage } from "./packument.ts";

interface OfTags {
  group: readonly string[];
  name: string;
  tag?: string;
}

const MAX_BODY_BYTES = 4_096;

/** GET of the tags of a package: an object of versions. */
export async function sendTags(exchange: LibraryExchange, named: OfTags): Promise<void> {
  const found = await findPackage(exchange, named);
  const tags = await renderedPackage(exchange, found, "tags", urlOf(exchange, named.group.join("/")));
  noteBlocked(exchange, found.gate, tags.blocked);
  const headers = { "content-type": "application/json", "cache-control": "private, no-cache" };
  send(exchange, 200, headers, Buffer.from(await wholeText(tags)));
}

/** PUT or POST of a tag, whose body is a version as JSON, and DELETE of one. */
export async function changeTag(exchange: LibraryExchange, { group: path, name, tag = "" }: OfTags): Promise<void> {
  const target = await changeTarget(exchange, path, { removes: false });
  requireTag(tag);
  const version = exchange.req.method === "DELETE" ? "" : await versionIn(exchange);
  await makeChange(exchange, target, { normalized: name, change: "tag", input: { tag, version } });
  sendJson(exchange, 200, { ok: true });
}

async function versionIn(exchange: LibraryExchange): Promise<string> {
  const tooLarge = (): Error => libraryError(413, `Invalid argument: body: has more than ${MAX_BODY_BYTES} bytes`);
  const body = await wholeBodyOf(exchange, MAX_BODY_BYTES, tooLarge);
  try {
    const version: unknown = JSON.parse(body.toString());
    if (typeof version === "string" && version !== "") return version;
  } catch {
    // Answered below.
  }
  throw libraryError(400, "Invalid argument: body: must be a version, as JSON");
}
