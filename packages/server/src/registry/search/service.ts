import { toBinary } from "@bufbuild/protobuf";
import { type SearchRequest, SearchRequestSchema, type SearchService } from "@moorage/api/messages";
import { openPageToken, PAGE_TOKEN_LIFETIME_MS, sealPageToken, wrongPageToken } from "../../aip/page-token.ts";
import { violationsOf } from "../../aip/validate.ts";
import type { Call } from "../../core/call.ts";
import type { Service, ServiceContext } from "../../core/service.ts";
import { type FieldViolation, invalidArgument } from "../../errors.ts";
import { searchPage, type SearchPosition } from "./page.ts";

const LIST = SearchRequestSchema.typeName;
const MIN_QUERY = 2;
const MAX_QUERY = 200;

/** Finds images in all groups that the caller may list. Why there is no table for this: docs/adr/0022-search.md. */
export function searchService({ pageTokenKey }: ServiceContext): Service<typeof SearchService> {
  return {
    async search(call, request) {
      const violations = violationsIn(request);
      if (violations.length > 0) throw invalidArgument(...violations);
      const bytes = toBinary(SearchRequestSchema, { ...request, pageSize: 0, pageToken: "" });
      const asked = Buffer.from(bytes).toString("base64");
      const { results, next } = await searchPage(
        call,
        request,
        openToken(call, pageTokenKey, asked, request.pageToken),
      );
      if (next === undefined) return { results };
      const position = [next.kind, ...next.after];
      return {
        results,
        nextPageToken: sealPageToken(pageTokenKey, { list: LIST, request: asked, position, issuedMs: call.nowMs }),
      };
    },
  };
}

/** Where the page begins; undefined at the beginning, and for an expired token. Each request states its query again. */
function openToken(call: Call, key: Uint8Array, asked: string, text: string): SearchPosition | undefined {
  if (text === "") return undefined;
  const { list, request, position, issuedMs } = openPageToken(key, text);
  if (call.nowMs - issuedMs > PAGE_TOKEN_LIFETIME_MS) return undefined;
  if (list !== LIST) throw wrongPageToken("is not a token of this list");
  if (request !== asked) throw wrongPageToken("was given for another query, uidp or kinds");
  const [kind, ...after] = position;
  return { kind: Number(kind), after: after.map(String) };
}

function violationsIn(request: SearchRequest): FieldViolation[] {
  const { query, pageSize, uidp } = request;
  const length = [...query].length;
  const isWrong = length < MIN_QUERY || length > MAX_QUERY || query.includes("\0");
  const others = {
    "uidp.ancestors_of": uidp?.ancestorsOf,
    "uidp.children_of": uidp?.childrenOf,
    "uidp.in_root": uidp?.inRoot,
    "uidp.ids": uidp?.ids.length,
  };
  return [
    ...violationsOf(SearchRequestSchema, request).filter(({ field }) => field !== "query"),
    ...(isWrong ? [{ field: "query", description: `must have ${MIN_QUERY} to ${MAX_QUERY} characters` }] : []),
    ...(pageSize < 0 ? [{ field: "page_size", description: "must not be negative" }] : []),
    ...Object.entries(others)
      .filter(([, given]) => Boolean(given))
      .map(([field]) => ({ field, description: "is not taken here: only descendants_of is" })),
  ];
}
