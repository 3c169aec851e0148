import { createHash } from "node:crypto";
import { type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  type ExpiringTagSchema,
  type PreviewTagRetentionRequest,
  PreviewTagRetentionRequestSchema,
  type PreviewTagRetentionResponseSchema,
} from "@moorage/api/messages";
import { DEFAULT_PAGE_SIZE } from "../aip/page-query.ts";
import { openPageToken, PAGE_TOKEN_LIFETIME_MS, sealPageToken, wrongPageToken } from "../aip/page-token.ts";
import { violationsOf } from "../aip/validate.ts";
import { timestamp } from "../lib/timestamps.ts";
import type { Call } from "../core/call.ts";
import { invalidArgument } from "../errors.ts";
import { compilePolicy, policyOf, policyViolations } from "./policies.ts";
import { type Expiring, expiringTags, planRetention } from "./retention.ts";

const MAX_PAGE_SIZE = 200;
const LIST = PreviewTagRetentionRequestSchema.typeName;

/**
 * A page of the tags that a policy would delete now, sorted by name. `own`: the text of the repo's policy, which is
 * used if the request has none. Pages work as in lists (docs/contract.md, "Listing"), but each request contains the
 * policy again. Every page reads all tags that are old enough, so that its total is exact.
 */
export async function previewRetention(
  call: Call,
  key: Uint8Array,
  own: string | null,
  request: PreviewTagRetentionRequest,
): Promise<MessageInitShape<typeof PreviewTagRetentionResponseSchema>> {
  const { uid, tagPolicy, pageSize, pageToken } = request;
  const violations = [
    ...violationsOf(PreviewTagRetentionRequestSchema, request),
    ...(tagPolicy === undefined ? [] : policyViolations(tagPolicy, "tagPolicy")),
    ...(pageSize < 0 ? [{ field: "page_size", description: "must not be negative" }] : []),
  ];
  if (violations.length > 0) throw invalidArgument(...violations);
  const size = Math.min(pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  const requestHash = fingerprint(request);
  const after = positionOf(call, key, pageToken, requestHash);
  const plan = await planRetention(
    call.tx,
    uid,
    tagPolicy === undefined ? policyOf(own) : compilePolicy(tagPolicy),
    call.nowMs,
  );
  let page: Expiring[] = [];
  let total = 0;
  for await (const found of expiringTags(call.tx, uid, plan)) {
    total += found.length;
    page = firstByName([...page, ...found.filter(({ tag }) => tag.name > after)], size + 1);
  }
  const last = page.length > size ? page[size - 1] : undefined;
  return {
    expiringTags: page.slice(0, size).map(toMessage),
    totalCount: BigInt(total),
    nextPageToken:
      last === undefined
        ? ""
        : sealPageToken(key, { list: LIST, request: requestHash, position: [last.tag.name], issuedMs: call.nowMs }),
  };
}

// Tags are read in the order of their age: of those read so far, only the first ones by name are kept.
function firstByName(found: Expiring[], limit: number): Expiring[] {
  return found.sort((one, other) => (one.tag.name < other.tag.name ? -1 : 1)).slice(0, limit);
}

/** Identifies the request that a page token belongs to. A hash, because a policy may be too long for a token. */
function fingerprint(request: PreviewTagRetentionRequest): string {
  return createHash("sha256")
    .update(toBinary(PreviewTagRetentionRequestSchema, { ...request, pageSize: 0, pageToken: "" }))
    .digest("base64");
}

/** The page starts after this name; empty for the first page. As in lists, expiry is checked first. */
function positionOf(call: Call, key: Uint8Array, text: string, requestHash: string): string {
  if (text === "") return "";
  const {
    list,
    request,
    position: [name],
    issuedMs,
  } = openPageToken(key, text);
  if (call.nowMs - issuedMs > PAGE_TOKEN_LIFETIME_MS) return "";
  if (list !== LIST || typeof name !== "string") throw wrongPageToken("is not a token of this list");
  if (request !== requestHash) throw wrongPageToken("was given for another uid or tag_policy");
  return name;
}

function toMessage({ tag: { name, digest, update_time }, rule }: Expiring): MessageInitShape<typeof ExpiringTagSchema> {
  return { name, digest, updateTime: timestamp(update_time), rule };
}
