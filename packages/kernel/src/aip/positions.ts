import { type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import type { Call } from "../core/call.ts";
import { openPageToken, PAGE_TOKEN_LIFETIME_MS, type PageToken, sealPageToken, wrongPageToken } from "./page-token.ts";

/** What the page tokens of a list belong to, for lists that are not read from one table by `listResources`. */
export interface Paged {
  /** The full name of the list's request message. */
  list: string;
  /** What the request asks for, but for its paging fields. */
  request: string;
  /** The fields in which another request may differ, for the error: `repo, tag or since`. */
  fields: string;
}

/** The token of the page that begins after the position. */
export function sealPosition(
  { nowMs }: Call,
  key: Uint8Array,
  { list, request }: Paged,
  position: PageToken["position"],
): string {
  return sealPageToken(key, { list, request, position, issuedMs: nowMs });
}

/**
 * The position after which the page begins; undefined without a token, and for one that has expired, whatever it was
 * given for. Throws INVALID_ARGUMENT on `page_token` for a token of another list or request.
 */
export function openPosition(
  { nowMs }: Call,
  key: Uint8Array,
  { list, request, fields }: Paged,
  pageToken: string,
): PageToken["position"] | undefined {
  if (pageToken === "") return undefined;
  const token = openPageToken(key, pageToken);
  if (nowMs - token.issuedMs > PAGE_TOKEN_LIFETIME_MS) return undefined;
  if (token.list !== list) throw wrongPageToken("is not a token of this list");
  if (token.request !== request) throw wrongPageToken(`was given for another ${fields}`);
  return token.position;
}

/** The request without its paging fields, in binary. */
export function withoutPaging<Schema extends DescMessage>(schema: Schema, request: MessageShape<Schema>): Uint8Array {
  return toBinary(schema, { ...request, pageSize: 0, pageToken: "" });
}

/** What a list's request asks for, for `Paged`, where requests are short. */
export function pagedBy<Schema extends DescMessage>(
  schema: Schema,
  request: MessageShape<Schema>,
  fields: string,
): Paged {
  return {
    list: schema.typeName,
    request: Buffer.from(withoutPaging(schema, request)).toString("base64"),
    fields,
  };
}
