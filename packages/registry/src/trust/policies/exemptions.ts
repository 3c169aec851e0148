import { create } from "@bufbuild/protobuf";
import {
  RepoSchema,
  type SignatureExemption,
  SignatureExemptionSchema,
  SignatureExemptionsService,
} from "@moorage/api/messages";
import { sql } from "kysely";
import { columnIsIfSet, listOf, listPage } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { countBelow } from "@moorage/kernel/aip/resource";
import { validate } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { failedPrecondition, type FieldViolation, invalidArgument, notFound } from "@moorage/kernel/errors";
import { milliseconds } from "@moorage/kernel/lib/timestamps";
import { isWithin, parentOf } from "@moorage/kernel/lib/uid";
import { repos } from "../../registry/index.ts";
import { notePolicyChange } from "./changes.ts";
import { exemptions, policies } from "./resource.ts";

const DAY_MS = 24 * 3_600_000;
const MAX_DAYS = 90;
const MAX_PER_POLICY = 1_000;

const LIST = listOf({
  method: SignatureExemptionsService.method.listSignatureExemptions,
  table: "signature_exemptions",
  defaultOrder: "createTime desc",
  orderBy: sortable("repo", "digest", "tag", "expire_time", "create_time", "uid"),
});

/** Which images pass a policy for some time: docs/signatures.md. */
export function signatureExemptionsService({
  pageTokenKey,
}: ServiceContext): Service<typeof SignatureExemptionsService> {
  return {
    getSignatureExemption: async (call, { uid }) => exemptions.toMessage(await exemptions.get(call.tx, uid)),
    async listSignatureExemptions(call, request) {
      const page = await listPage(call, pageTokenKey, LIST, request, {
        filters: ({ repo, digest, active }) => [
          ...columnIsIfSet("repo", repo),
          ...columnIsIfSet("digest", digest),
          ...(active ? [sql<boolean>`expire_time > ${call.nowMs}`] : []),
        ],
      });
      return { ...page, signatureExemptions: page.rows.map(exemptions.toMessage) };
    },
    async createSignatureExemption(call, { parent, signatureExemption = create(SignatureExemptionSchema) }) {
      const policy = await policies.get(call.tx, parent);
      check(call, policy.parent, signatureExemption);
      const { repo, digest, tag, reason, expireTime } = signatureExemption;
      if ((await repos.find(call.tx, repo)) === undefined) throw notFound(RepoSchema.typeName, repo);
      await requireCapacity(call, parent);
      const row = await exemptions.insert(call, parent, {
        repo,
        digest,
        tag,
        reason,
        expire_time: expireTime === undefined ? 0 : milliseconds(expireTime),
        creator: call.caller.identity,
        create_time: call.nowMs,
      });
      await notePolicyChange(call, policy.parent);
      return exemptions.toMessage(row);
    },
    async deleteSignatureExemption(call, { uid }) {
      const row = await exemptions.get(call.tx, uid);
      await exemptions.remove(call, row);
      await notePolicyChange(call, parentOf(row.parent));
      return {};
    },
  };
}

function check({ nowMs }: Call, group: string, exemption: SignatureExemption): void {
  validate(SignatureExemptionSchema, exemption);
  const { repo, digest, tag, expireTime } = exemption;
  const violations: FieldViolation[] = [];
  if ((digest === "") === (tag === ""))
    violations.push({ field: "digest", description: "exactly one of digest and tag is required" });
  if (!isWithin(repo, group)) violations.push({ field: "repo", description: "is not below the policy's group" });
  const endMs = expireTime === undefined ? 0 : milliseconds(expireTime);
  if (endMs <= nowMs || endMs > nowMs + MAX_DAYS * DAY_MS)
    violations.push({ field: "expireTime", description: `must be after now, and within ${MAX_DAYS} days` });
  if (violations.length > 0) throw invalidArgument(...violations);
}

async function requireCapacity(call: Call, policy: string): Promise<void> {
  if ((await countBelow(call.tx, "signature_exemptions", policy)) < MAX_PER_POLICY) return;
  throw failedPrecondition({
    type: "TOO_MANY_SIGNATURE_EXEMPTIONS",
    subject: policy,
    description: `a policy has at most ${MAX_PER_POLICY} exemptions: delete those that have ended`,
  });
}
