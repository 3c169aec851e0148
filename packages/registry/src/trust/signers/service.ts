import { create } from "@bufbuild/protobuf";
import { SignerSchema, SignersService } from "@moorage/api/messages";
import { columnIsIfSet, listOf, listPage } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { countBelow } from "@moorage/kernel/aip/resource";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { failedPrecondition } from "@moorage/kernel/errors";
import { groups } from "@moorage/platform/iam";
import { requireUnused } from "../policies/in-use.ts";
import { checkSigner } from "./check.ts";
import { requireTrustRoot } from "./check-trust-root.ts";
import { noteSignerChange } from "./note-change.ts";
import { signerColumns, signers } from "./resource.ts";

const MAX_PER_GROUP = 200;

const LIST = listOf({
  method: SignersService.method.listSigners,
  table: "signers",
  defaultOrder: "name",
  orderBy: sortable("name", "description", "create_time", "update_time", "uid"),
  large: ["keys", "x509"],
});

/** Who signs the images of groups: docs/signatures.md. */
export function signersService({ pageTokenKey, ...context }: ServiceContext): Service<typeof SignersService> {
  return {
    getSigner: async (call, { uid }) => signers.toMessage(await signers.get(call.tx, uid)),
    async listSigners(call, request) {
      const page = await listPage(call, pageTokenKey, LIST, request, {
        filters: ({ name }) => columnIsIfSet("name", name),
      });
      return { ...page, signers: page.rows.map(signers.toMessage) };
    },
    async createSigner(call, { parent, signer = create(SignerSchema) }) {
      checkSigner(signer, context);
      await groups.get(call.tx, parent);
      await requireTrustRoot(call.tx, parent, signer.keyless?.trustRoot ?? "");
      await requireCapacity(call, parent);
      const row = await signers.insert(call, parent, {
        ...signerColumns(signer),
        create_time: call.nowMs,
        update_time: call.nowMs,
      });
      await noteSignerChange(call, row.uid);
      return signers.toMessage(row);
    },
    async updateSigner(call, { signer = create(SignerSchema), updateMask }) {
      const changed = await signers.patch(call, signer.uid, signer, updateMask, async (before, after) => {
        checkSigner(after, context);
        await requireTrustRoot(call.tx, before.parent, after.keyless?.trustRoot ?? "");
        if (before.name !== after.name) await signers.requireFree(call.tx, before.parent, after.name);
        if (before.version !== signerColumns(after).version) await noteSignerChange(call, before.uid);
      });
      return changed;
    },
    async deleteSigner(call, { uid }) {
      const row = await signers.get(call.tx, uid);
      await requireUnused(call.tx, uid);
      await signers.remove(call, row);
      // What it said ends with it; what it said before is still answered as of then.
      await noteSignerChange(call, uid);
      return {};
    },
  };
}

async function requireCapacity(call: Call, group: string): Promise<void> {
  if ((await countBelow(call.tx, "signers", group)) < MAX_PER_GROUP) return;
  throw failedPrecondition({
    type: "TOO_MANY_SIGNERS",
    subject: group,
    description: `a group has at most ${MAX_PER_GROUP} signers`,
  });
}
