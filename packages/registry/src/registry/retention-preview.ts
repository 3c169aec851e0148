import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type ExpiringTagSchema,
  type PreviewTagRetentionRequest,
  PreviewTagRetentionRequestSchema,
  type PreviewTagRetentionResponseSchema,
} from "@moorage/api/messages";
import { DEFAULT_PAGE_SIZE } from "@moorage/kernel/aip/page-query";
import { openPosition, type Paged, sealPosition, withoutPaging } from "@moorage/kernel/aip/positions";
import { violationsOf } from "@moorage/kernel/aip/validate";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import type { Call } from "@moorage/kernel/core/call";
import { invalidArgument } from "@moorage/kernel/errors";
import { compilePolicy, policyOf, policyViolations } from "./policies.ts";
import { coverageMessage } from "@moorage/kernel/aip/coverage-message";
import { pullCoverage } from "./pulls/coverage.ts";
import { type Expiring, expiringTags, planRetention } from "./retention.ts";

const MAX_PAGE_SIZE = 200;

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
  const paged = pagedByHash(request);
  const after = String(openPosition(call, key, paged, pageToken)?.[0] ?? "");
  const plan = await planRetention(
    call.tx,
    uid,
    tagPolicy === undefined ? policyOf(own) : compilePolicy(tagPolicy),
    call.nowMs,
  );
  let page: Expiring[] = [];
  let [total, unknown] = [0, 0];
  for await (const found of expiringTags(call.tx, uid, plan, call.nowMs, () => void (unknown += 1))) {
    total += found.length;
    page = firstByName([...page, ...found.filter(({ tag }) => tag.name > after)], size + 1);
  }
  const last = page.length > size ? page[size - 1] : undefined;
  return {
    expiringTags: page.slice(0, size).map(toMessage),
    totalCount: BigInt(total),
    pullsUnknownCount: BigInt(unknown),
    ...(plan.readsUses && { coverage: coverageMessage(await pullCoverage(call.tx)) }),
    nextPageToken: last === undefined ? "" : sealPosition(call, key, paged, [last.tag.name]),
  };
}

// Tags are read in the order of their age: of those read so far, only the first ones by name are kept.
function firstByName(found: Expiring[], limit: number): Expiring[] {
  return found.sort((one, other) => (one.tag.name < other.tag.name ? -1 : 1)).slice(0, limit);
}

/** What a page token belongs to, by a hash, because a policy may be too long for a token. */
function pagedByHash(request: PreviewTagRetentionRequest): Paged {
  const bytes = withoutPaging(PreviewTagRetentionRequestSchema, request);
  return {
    list: PreviewTagRetentionRequestSchema.typeName,
    request: createHash("sha256").update(bytes).digest("base64"),
    fields: "uid or tag_policy",
  };
}

function toMessage({ tag: { name, digest, update_time }, rule }: Expiring): MessageInitShape<typeof ExpiringTagSchema> {
  return { name, digest, updateTime: timestamp(update_time), rule };
}
