import { create } from "@bufbuild/protobuf";
import { type Replication, ReplicationSchema, ReplicationsService } from "@moorage/api/messages";
import { columnIsIfSet, listOf, listPage } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { resource } from "@moorage/kernel/aip/resource";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { failedPrecondition, invalidArgument } from "@moorage/kernel/errors";
import type { Row } from "@moorage/kernel/store";
import { groups } from "@moorage/platform/iam";
import { credentialPlace, keepsCredential } from "./credentials.ts";
import { checkReplication } from "./fields.ts";
import { listItems } from "./items.ts";
import { replicationColumns, replicationInit, withState } from "./message.ts";
import { endTurn, firstScan, forgetItems, retryItems, stopItems, takeBack } from "./turns.ts";

const replications = resource({
  message: ReplicationSchema,
  table: "replications",
  toMessage: replicationInit,
  toRow: replicationColumns,
});
const LIST = listOf({
  method: ReplicationsService.method.listReplications,
  table: "replications",
  defaultOrder: "name",
  orderBy: sortable("name", "destination", "create_time", "update_time", "uid"),
});

/** Rules by which images are pushed to other registries: docs/replication.md. */
export function replicationsService({
  pageTokenKey,
  secrets,
  allowPrivateNetwork = true,
}: ServiceContext): Service<typeof ReplicationsService> {
  const store = async ({ tx }: Call, uid: string, password: string): Promise<void> => {
    const credential = password === "" ? "" : secrets.seal(password, credentialPlace(uid));
    await tx.updateTable("replications").set({ credential }).where("uid", "=", uid).execute();
  };
  const check = (replication: Replication): void => {
    const violations = checkReplication(replication, { allowPrivateNetwork });
    if (violations.length > 0) throw invalidArgument(...violations);
  };
  const whole = async (call: Call, uid: string): Promise<Replication> =>
    await withState(call, await replications.get(call.tx, uid));
  return {
    getReplication: (call, { uid }) => whole(call, uid),
    async listReplications(call, request) {
      const { rows, ...page } = await listPage(call, pageTokenKey, LIST, request, {
        filters: ({ name }) => columnIsIfSet("name", name),
      });
      const found: Replication[] = [];
      for (const row of rows) found.push(await withState(call, row));
      return { ...page, replications: found };
    },
    async createReplication(call, { parent, replication = create(ReplicationSchema) }) {
      check(replication);
      await groups.get(call.tx, parent);
      await replications.requireFree(call.tx, parent, replication.name);
      const columns = replicationColumns(replication);
      const row = await replications.insert(call, parent, {
        ...columns,
        ...NOTHING_YET,
        credential: "",
        scan_time: firstScan(call, columns),
        create_time: call.nowMs,
        update_time: call.nowMs,
      });
      // It is sealed for the row's uid, which the insert has assigned.
      if (replication.password !== "") await store(call, row.uid, replication.password);
      call.wake("replications");
      return await whole(call, row.uid);
    },
    async updateReplication(call, { replication = create(ReplicationSchema), updateMask }) {
      const { uid } = replication;
      await replications.patch(call, uid, replication, updateMask, async (before, after) => {
        const isKept = keepsCredential(before, after, updateMask);
        check(isKept && before.credential !== "" ? { ...after, password: "kept" } : after);
        if (before.name !== after.name) await replications.requireFree(call.tx, before.parent, after.name);
        if (!isKept) await store(call, uid, after.password);
        await follow(call, before, replicationColumns(after));
      });
      call.wake("replications");
      return await whole(call, uid);
    },
    async deleteReplication(call, { uid }) {
      const row = await replications.get(call.tx, uid);
      await forgetItems(call.tx, uid);
      await replications.remove(call, row);
      return {};
    },
    async runReplication(call, { uid, force }) {
      const row = await replications.get(call.tx, uid);
      if (row.disabled === 1)
        throw failedPrecondition({ type: "DISABLED", subject: uid, description: "the replication is disabled" });
      await retryItems(call, uid, force);
      const due = {
        scan_time: call.agreedMs,
        seen_time: 0,
        held_until: 0,
        forced: force ? 1 : row.forced,
        update_time: call.nowMs,
      };
      await call.tx.updateTable("replications").set(due).where("uid", "=", uid).execute();
      call.wake("replications");
      return await whole(call, uid);
    },
    async stopReplication(call, { uid }) {
      const row = await replications.get(call.tx, uid);
      await stopItems(call, uid);
      // A comparison that is due now would begin again.
      if (row.scan_time !== null && row.scan_time <= call.agreedMs) await endTurn(call, row);
      await call.tx.updateTable("replications").set({ update_time: call.nowMs }).where("uid", "=", uid).execute();
      return await whole(call, uid);
    },
    async listReplicationItems(call, request) {
      await replications.get(call.tx, request.uid);
      return await listItems(call, pageTokenKey, request);
    },
  };
}

const NOTHING_YET = { seen_time: 0, forced: 0, held_until: 0, problem: "" } as const;

/** What a change of a rule means for its items. */
async function follow(
  call: Call,
  before: Row<"replications">,
  after: ReturnType<typeof replicationColumns>,
): Promise<void> {
  const { uid } = before;
  const goesElsewhere = before.destination !== after.destination || before.flatten !== after.flatten;
  if (goesElsewhere) await forgetItems(call.tx, uid);
  else await takeBack(call, uid);
  const set = { ...NOTHING_YET, scan_time: firstScan(call, after) };
  await call.tx.updateTable("replications").set(set).where("uid", "=", uid).execute();
}
