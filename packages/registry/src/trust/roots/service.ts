import { isDeepStrictEqual } from "node:util";
import { create } from "@bufbuild/protobuf";
import { type TrustRoot, TrustRootSchema, TrustRootsService, TrustRootState } from "@moorage/api/messages";
import { columnIsIfSet, listOf, listPage } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { countBelow } from "@moorage/kernel/aip/resource";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { failedPrecondition } from "@moorage/kernel/errors";
import { groups } from "@moorage/platform/iam";
import { checkTrustRoot } from "./check.ts";
import { NOTHING_FETCHED, noteRootState, placeCopy } from "./copies.ts";
import { noteSignersOf, requireUnnamed } from "./naming.ts";
import { sourceOf, trustRootColumns, trustRoots } from "./resource.ts";
import { thresholdsIn, thresholdsOf } from "./thresholds.ts";

const MAX_PER_GROUP = 20;

const LIST = listOf({
  method: TrustRootsService.method.listTrustRoots,
  table: "trust_roots",
  defaultOrder: "name",
  orderBy: sortable("name", "state", "refresh_time", "create_time", "update_time", "uid"),
  large: ["trusted_root", "tuf"],
});

/** By which authorities and logs identities are verified: docs/signatures.md. */
export function trustRootsService({
  pageTokenKey,
  allowPrivateNetwork = true,
}: ServiceContext): Service<typeof TrustRootsService> {
  return {
    getTrustRoot: async (call, { uid }) => trustRoots.toMessage(await trustRoots.get(call.tx, uid)),
    async listTrustRoots(call, request) {
      const page = await listPage(call, pageTokenKey, LIST, request, {
        filters: ({ name }) => columnIsIfSet("name", name),
      });
      return { ...page, trustRoots: page.rows.map(trustRoots.toMessage) };
    },
    async createTrustRoot(call, { parent, trustRoot = create(TrustRootSchema) }) {
      await checkTrustRoot(trustRoot, { allowPrivateNetwork });
      await groups.get(call.tx, parent);
      await requireCapacity(call, parent);
      const row = await trustRoots.insert(call, parent, {
        ...trustRootColumns(trustRoot),
        ...stateOf(trustRoot),
        create_time: call.nowMs,
        update_time: call.nowMs,
      });
      await placeCopy(call, row.uid, sourceOf(trustRoot));
      return trustRoots.toMessage(row);
    },
    async updateTrustRoot(call, { trustRoot = create(TrustRootSchema), updateMask }) {
      const { uid } = trustRoot;
      await trustRoots.patch(call, uid, trustRoot, updateMask, async (before, after) => {
        await checkTrustRoot(after, { allowPrivateNetwork });
        if (before.name !== after.name) await trustRoots.requireFree(call.tx, before.parent, after.name);
        const was = sourceOf(trustRoots.toMessage(before))?.source;
        const source = sourceOf(after);
        await placeCopy(call, uid, source);
        const isSame = was === source?.source && before.trusted_root === after.trustedRoot;
        const asksTheSame = isDeepStrictEqual(thresholdsOf(before), thresholdsIn(after));
        if (isSame && asksTheSame) return;
        if (!isSame) await call.tx.updateTable("trust_roots").set(stateOf(after)).where("uid", "=", uid).execute();
        await noteSignersOf(call, uid);
      });
      await noteCopyState(call, uid);
      return trustRoots.toMessage(await trustRoots.get(call.tx, uid));
    },
    async deleteTrustRoot(call, { uid }) {
      const row = await trustRoots.get(call.tx, uid);
      await requireUnnamed(call.tx, uid);
      await placeCopy(call, uid, undefined);
      await trustRoots.remove(call, row);
      return {};
    },
  };
}

/** Has the state of a root with a copy be that by its thresholds as they are now. */
async function noteCopyState(call: Call, uid: string): Promise<void> {
  const copy = await call.tx
    .selectFrom("tuf_copies")
    .select(["state", "message", "trusted_root"])
    .where("trust_root", "=", uid)
    .executeTakeFirst();
  if (copy !== undefined) await noteRootState(call, uid, copy);
}

/** What is known of a root whose content is new. */
function stateOf({ tuf }: Pick<TrustRoot, "tuf">): { state: number; message: string; refresh_time: null } {
  if (tuf !== undefined) return { ...NOTHING_FETCHED, refresh_time: null };
  return { state: TrustRootState.READY, message: "", refresh_time: null };
}

async function requireCapacity(call: Call, group: string): Promise<void> {
  if ((await countBelow(call.tx, "trust_roots", group)) < MAX_PER_GROUP) return;
  throw failedPrecondition({
    type: "TOO_MANY_TRUST_ROOTS",
    subject: group,
    description: `a group has at most ${MAX_PER_GROUP} trust roots`,
  });
}
