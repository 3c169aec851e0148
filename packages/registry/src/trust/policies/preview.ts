import { createHash } from "node:crypto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type PreviewedTagSchema,
  type PreviewSignaturePolicyRequest,
  PreviewSignaturePolicyRequestSchema,
  type PreviewSignaturePolicyResponseSchema,
  SignatureAction,
  type SignatureOutcome,
  SignaturePolicySchema,
} from "@moorage/api/messages";
import { DEFAULT_PAGE_SIZE } from "@moorage/kernel/aip/page-query";
import { openPosition, type Paged, sealPosition, withoutPaging } from "@moorage/kernel/aip/positions";
import type { Call } from "@moorage/kernel/core/call";
import { invalidArgument } from "@moorage/kernel/errors";
import { createTurns } from "@moorage/kernel/lib/turns";
import { groups } from "@moorage/platform/iam";
import { select } from "@moorage/kernel/store";
import type { PolicyRow } from "../judging/compile.ts";
import { readEvidence } from "../judging/evidence.ts";
import { draftInForce } from "../judging/in-force.ts";
import { isHeld, judge } from "../judging/judge.ts";
import type { PolicyJudgment } from "../judging/types.ts";
import { checkPolicy } from "./check.ts";
import { policyColumns } from "./resource.ts";

const MAX_PAGE_SIZE = 200;
/** Tags that are read together, and for one page: another one goes on after them. */
const BATCH = 100;
const MAX_LOOKED_AT = 2_000;

interface TagRow {
  repo: string;
  name: string;
  digest: string;
}

/**
 * A page of the tags that a draft would block now, in the repos below the group; and how many others pass, by why.
 * A page ends after so many tags, whether held or not: memory does not grow with how many there are.
 */
export async function previewPolicy(
  call: Call,
  key: Uint8Array,
  request: PreviewSignaturePolicyRequest,
): Promise<MessageInitShape<typeof PreviewSignaturePolicyResponseSchema>> {
  const { parent, pageSize, pageToken, signaturePolicy = create(SignaturePolicySchema) } = request;
  if (pageSize < 0) throw invalidArgument({ field: "page_size", description: "must not be negative" });
  const paged = pagedByHash(request);
  await groups.get(call.tx, parent);
  const row = await draftRow(call, parent, signaturePolicy);
  const size = Math.min(pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  const [repo = "", name = ""] = (openPosition(call, key, paged, pageToken) ?? []).map(String);
  let after: Pick<TagRow, "repo" | "name"> | undefined = { repo, name };
  const tags: MessageInitShape<typeof PreviewedTagSchema>[] = [];
  const passed = new Map<SignatureOutcome, number>();
  let lookedAt = 0;
  const turn = createTurns();
  while (after !== undefined && tags.length < size && lookedAt < MAX_LOOKED_AT) {
    const rows: TagRow[] = await tagsAfter(call, parent, after);
    after = rows.length < BATCH ? undefined : rows.at(-1);
    for (const found of await judged(call, parent, row, rows)) {
      lookedAt += 1;
      const { judgment, repository, ...tag } = found;
      const { outcome, reason } = judgment;
      if (!isHeld(judgment)) passed.set(outcome, (passed.get(outcome) ?? 0) + 1);
      else tags.push({ repo: tag.repo, repository, tag: tag.name, digest: tag.digest, outcome, reason });
      if (tags.length < size) continue;
      after = { repo: tag.repo, name: tag.name };
      break;
    }
    call.requireCaller();
    await turn();
  }
  return {
    tags,
    lookedAt,
    passed: [...passed].map(([outcome, count]) => ({ outcome, count })),
    nextPageToken: after === undefined ? "" : sealPosition(call, key, paged, [after.repo, after.name]),
  };
}

/** The draft as it would be stored. Throws INVALID_ARGUMENT as creating it would. */
async function draftRow(
  call: Call,
  parent: string,
  draft: NonNullable<PreviewSignaturePolicyRequest["signaturePolicy"]>,
): Promise<PolicyRow> {
  if (draft.name === "") draft.name = "draft";
  draft.on = [SignatureAction.PULL];
  await checkPolicy(call.tx, parent, draft);
  return { ...policyColumns(draft), uid: "" };
}

/** What a page token belongs to, by a hash, because a policy may be too long for a token. */
function pagedByHash(request: PreviewSignaturePolicyRequest): Paged {
  const bytes = withoutPaging(PreviewSignaturePolicyRequestSchema, request);
  return {
    list: PreviewSignaturePolicyRequestSchema.typeName,
    request: createHash("sha256").update(bytes).digest("base64"),
    fields: "parent or signature_policy",
  };
}

// Uids of repos below the group begin with its own and a slash; a zero comes after the slash.
async function tagsAfter(
  { tx }: Call,
  group: string,
  { repo, name }: Pick<TagRow, "repo" | "name">,
): Promise<TagRow[]> {
  return await select<TagRow>(
    tx,
    `select parent as repo, name, digest from tags where (parent, name) > (?, ?) and parent > ? and parent < ? order by parent, name limit ${BATCH}`,
    [repo, name, `${group}/`, `${group}0`],
  );
}

interface JudgedTag extends TagRow {
  repository: string;
  judgment: PolicyJudgment;
}

/** The tags with what the draft says of them, in their order. */
async function judged(
  { tx, nowMs }: Call,
  group: string,
  row: PolicyRow,
  tags: readonly TagRow[],
): Promise<JudgedTag[]> {
  const found: JudgedTag[] = [];
  for (const [repo, own] of Map.groupBy(tags, (each) => each.repo)) {
    const inForce = await draftInForce(tx, { row, group, repo });
    const digests = [...new Set(own.map(({ digest }) => digest))];
    const evidence = await readEvidence(tx, { repo, digests }, inForce, nowMs);
    for (const tag of own) {
      const known = evidence.get(tag.digest);
      if (known === undefined) throw new Error(`nothing was read of ${tag.digest}`);
      const [judgment] = judge(inForce.policies, known, { action: SignatureAction.PULL, nowMs }).policies;
      if (judgment !== undefined) found.push({ ...tag, repository: inForce.path, judgment });
    }
  }
  return found;
}
