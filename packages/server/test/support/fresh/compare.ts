import { inspect } from "node:util";
import type { Question, Reply } from "./connections.ts";

/** An answer without what differs each time: a text, so that two that say the same are equal. */
export function saidBy({ status, headers, body }: Reply): string {
  const id = headers["x-request-id"] ?? "";
  let text = body.toString("latin1");
  if (id !== "") text = text.replaceAll(id, "ID");
  // A page token holds the time of its issue, and the entity tag is one of the whole text.
  const paged = text.replace(PAGE_TOKEN, '"nextPageToken":"given"');
  const kept = Object.entries(headers)
    .filter(([name]) => !EACH_TIME.has(name) && (paged === text || !OF_WHOLE_TEXT.has(name)))
    .map(([name, value]) => `${name}: ${value}`)
    .sort();
  return [String(status), ...kept, "", paged].join("\n");
}

const PAGE_TOKEN = /"nextPageToken":"[^"]+"/;
const EACH_TIME = new Set([
  "date",
  "connection",
  "keep-alive",
  "x-request-id",
  // Holds the request's id.
  "grpc-status-details-bin",
]);
const OF_WHOLE_TEXT = new Set(["etag", "content-length"]);

/** The question in a line, without its token. */
export function textOf({ method, path, headers, grpc }: Question): string {
  const { authorization: _, ...rest } = headers;
  const more = Object.entries(rest).map(([name, value]) => `, ${name}: ${value}`);
  return `${grpc === undefined ? method : "gRPC"} ${path}${more.join("")}${grpc === undefined ? "" : ` ${inspect(Buffer.from(grpc).toString("latin1"))}`}`;
}
