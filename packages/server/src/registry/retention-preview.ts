import { createHash } from "node:crypto";
import { type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  type ExpiringTagSchema,
  type PreviewTagRetentionRequest,
  PreviewTagRetentionRequestSchema,
  type PreviewTagRetentionResponseSchema,
} from "@moorage/api";
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
 * A page of the tags that a policy would delete now, by name: `own` is the text of the repo's, taken when the request
 * has none. Pages as lists do (contract §4), but that each request says its policy anew. Every page looks at all tags
 * that are old enough, so that its total is exact.
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
  const question = fingerprint(request);
  const after = positionOf(call, key, pageToken, question);
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
        : sealPageToken(key, { list: LIST, request: question, position: [last.tag.name], issuedMs: call.nowMs }),
  };
}

// The tags come by their age: of all that were seen, only those that may be on the page are kept.
function firstByName(found: Expiring[], limit: number): Expiring[] {
  return found.sort((one, other) => (one.tag.name < other.tag.name ? -1 : 1)).slice(0, limit);
}

/** What pages of one preview have in common. A policy may be too long for a token to carry. */
function fingerprint(request: PreviewTagRetentionRequest): string {
  return createHash("sha256")
    .update(toBinary(PreviewTagRetentionRequestSchema, { ...request, pageSize: 0, pageToken: "" }))
    .digest("base64");
}

/** The name that the page starts behind. Expiry is looked at first, as lists do. */
function positionOf(call: Call, key: Uint8Array, text: string, question: string): string {
  if (text === "") return "";
  const {
    list,
    request,
    position: [name],
    issuedMs,
  } = openPageToken(key, text);
  if (call.nowMs - issuedMs > PAGE_TOKEN_LIFETIME_MS) return "";
  if (list !== LIST || typeof name !== "string") throw wrongPageToken("is not a token of this list");
  if (request !== question) throw wrongPageToken("was given for another uid or tag_policy");
  return name;
}

function toMessage({ tag: { name, digest, update_time }, rule }: Expiring): MessageInitShape<typeof ExpiringTagSchema> {
  return { name, digest, updateTime: timestamp(update_time), rule };
}
