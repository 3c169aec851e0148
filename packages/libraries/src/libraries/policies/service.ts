import { create } from "@bufbuild/protobuf";
import {
  ArtifactPoliciesService,
  type ArtifactPolicy,
  ArtifactPolicySchema,
  EcosystemSchema,
} from "@moorage/api/messages";
import { columnIsIfSet, listStored, storedListOf } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { storedGet } from "@moorage/kernel/aip/resource";
import { validate } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { alreadyExists, invalidArgument } from "@moorage/kernel/errors";
import { groups } from "@moorage/platform/iam";
import { policies, POLICY_LAYOUT, policyColumns, policyViolations, setDefaults } from "./resource.ts";

const getPolicy = storedGet("artifact_policies", POLICY_LAYOUT);
const LIST = storedListOf(
  {
    method: ArtifactPoliciesService.method.listArtifactPolicies,
    table: "artifact_policies",
    defaultOrder: "uid",
    orderBy: sortable("ecosystem", "description", "mode", "create_time", "update_time", "uid"),
    large: ["blocked_purls", "allowed_purls", "allowed_licenses", "denied_licenses"],
  },
  POLICY_LAYOUT,
);

/** Policies of groups about libraries. What they mean: docs/libraries.md, "Cooldown and rules". */
export function artifactPoliciesService({ pageTokenKey }: ServiceContext): Service<typeof ArtifactPoliciesService> {
  return {
    getArtifactPolicy: (call, { uid }) => getPolicy(call.tx, uid),
    listArtifactPolicies: (call, request) =>
      listStored(call, pageTokenKey, LIST, request, {
        filters: ({ ecosystem, mode }) => [...columnIsIfSet("ecosystem", ecosystem), ...columnIsIfSet("mode", mode)],
      }),
    async createArtifactPolicy(call, { parent, artifactPolicy = create(ArtifactPolicySchema) }) {
      check(artifactPolicy);
      await groups.get(call.tx, parent);
      await requireFree(call, parent, artifactPolicy.ecosystem);
      const row = await policies.insert(call, parent, {
        ...policyColumns(artifactPolicy),
        ecosystem: artifactPolicy.ecosystem,
        create_time: call.nowMs,
        update_time: call.nowMs,
      });
      return policies.toMessage(row);
    },
    updateArtifactPolicy: (call, { artifactPolicy = create(ArtifactPolicySchema), updateMask }) =>
      policies.patch(call, artifactPolicy.uid, artifactPolicy, updateMask, (_, after) => check(after)),
    async deleteArtifactPolicy(call, { uid }) {
      await policies.remove(call, await policies.get(call.tx, uid));
      return {};
    },
  };
}

function check(policy: ArtifactPolicy): void {
  validate(ArtifactPolicySchema, policy);
  setDefaults(policy);
  const violations = policyViolations(policy);
  if (violations.length > 0) throw invalidArgument(...violations);
}

async function requireFree({ tx }: Call, parent: string, ecosystem: number): Promise<void> {
  const taken = await tx
    .selectFrom("artifact_policies")
    .select("uid")
    .where("parent", "=", parent)
    .where("ecosystem", "=", ecosystem)
    .executeTakeFirst();
  if (taken === undefined) return;
  const name = EcosystemSchema.values.find(({ number }) => number === ecosystem)?.localName ?? String(ecosystem);
  throw alreadyExists(ArtifactPolicySchema.typeName, `${parent} ${name}`);
}
