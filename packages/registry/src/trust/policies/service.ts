import { create } from "@bufbuild/protobuf";
import { SignaturePoliciesService, SignaturePolicySchema } from "@moorage/api/messages";
import { columnIsIfSet, listOf, listPage } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { countBelow } from "@moorage/kernel/aip/resource";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { failedPrecondition } from "@moorage/kernel/errors";
import { groups } from "@moorage/platform/iam";
import { NO_SIGNERS } from "../judging/compile.ts";
import { noteDocumentPolicyChange, notePolicyChange } from "./changes.ts";
import { checkPolicy } from "./check.ts";
import { previewPolicy } from "./preview.ts";
import { policies, policyColumns } from "./resource.ts";

const MAX_PER_GROUP = 20;

const LIST = listOf({
  method: SignaturePoliciesService.method.listSignaturePolicies,
  table: "signature_policies",
  defaultOrder: "name",
  orderBy: sortable("name", "description", "mode", "since", "create_time", "update_time", "uid"),
  large: ["rules"],
});

/** Which signatures images need to be pulled, promoted or copied: docs/signatures.md. */
export function signaturePoliciesService({ pageTokenKey }: ServiceContext): Service<typeof SignaturePoliciesService> {
  return {
    getSignaturePolicy: async (call, { uid }) => policies.toMessage(await policies.get(call.tx, uid)),
    async listSignaturePolicies(call, request) {
      const page = await listPage(call, pageTokenKey, LIST, request, {
        filters: ({ name, mode }) => [...columnIsIfSet("name", name), ...columnIsIfSet("mode", mode)],
      });
      return { ...page, signaturePolicies: page.rows.map(policies.toMessage) };
    },
    async createSignaturePolicy(call, { parent, signaturePolicy = create(SignaturePolicySchema) }) {
      await groups.get(call.tx, parent);
      await checkPolicy(call.tx, parent, signaturePolicy);
      await requireCapacity(call, parent);
      const row = await policies.insert(call, parent, {
        ...policyColumns(signaturePolicy),
        create_time: call.nowMs,
        update_time: call.nowMs,
      });
      await noteChange(call, parent, row);
      return policies.toMessage(row);
    },
    async updateSignaturePolicy(call, { signaturePolicy = create(SignaturePolicySchema), updateMask }) {
      return await policies.patch(call, signaturePolicy.uid, signaturePolicy, updateMask, async (before, after) => {
        await checkPolicy(call.tx, before.parent, after);
        if (before.name !== after.name) await policies.requireFree(call.tx, before.parent, after.name);
        await noteChange(call, before.parent, before, policyColumns(after));
      });
    },
    async deleteSignaturePolicy(call, { uid }) {
      const row = await policies.get(call.tx, uid);
      await call.tx.deleteFrom("signature_exemptions").where("parent", "=", uid).execute();
      await policies.remove(call, row);
      await noteChange(call, row.parent, row);
      return {};
    },
    previewSignaturePolicy: (call, request) => previewPolicy(call, pageTokenKey, request),
  };
}

async function noteChange(
  call: Call,
  group: string,
  ...versions: readonly { document_signers: string }[]
): Promise<void> {
  await notePolicyChange(call, group);
  if (versions.some((each) => each.document_signers !== NO_SIGNERS)) await noteDocumentPolicyChange(call);
}

async function requireCapacity(call: Call, group: string): Promise<void> {
  if ((await countBelow(call.tx, "signature_policies", group)) < MAX_PER_GROUP) return;
  throw failedPrecondition({
    type: "TOO_MANY_SIGNATURE_POLICIES",
    subject: group,
    description: `a group has at most ${MAX_PER_GROUP} signature policies`,
  });
}
