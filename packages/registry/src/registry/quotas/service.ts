import { create } from "@bufbuild/protobuf";
import { type Quota, QuotaSchema, QuotasService, QuotaState } from "@moorage/api/messages";
import { listOf, listPage } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { resource } from "@moorage/kernel/aip/resource";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { alreadyExists, type FieldViolation, invalidArgument } from "@moorage/kernel/errors";
import { groups, showLimits } from "@moorage/platform/iam";
import { parentOf } from "@moorage/kernel/lib/uid";
import { type Row, statement } from "@moorage/kernel/store";
import { noteState } from "./crossings.ts";
import { type Limited, usedOf } from "./levels.ts";
import { quotaInit, quotaMessage } from "./message.ts";
import { BEGINNING } from "./positions.ts";

const DEFAULT_SOFT_PERCENT = 80;
const LIMITED: readonly Limited[] = ["bytes", "repos", "tags", "libraries"];

const quotas = resource({ message: QuotaSchema, table: "quotas", toMessage: quotaInit, toRow: limitsOf });
const LIST = listOf({
  method: QuotasService.method.listQuotas,
  table: "quotas",
  defaultOrder: "createTime",
  orderBy: sortable("create_time", "update_time", "state", "uid"),
});

const selectShares = statement<Row<"quota_shares">>("select * from quota_shares where quota = ?");

/** How much groups may hold: docs/quotas.md. */
export function quotasService({ pageTokenKey }: ServiceContext): Service<typeof QuotasService> {
  return {
    getQuota: async (call, { uid }) => await whole(call, await quotas.get(call.tx, uid)),
    async listQuotas(call, request) {
      const { rows, ...page } = await listPage(call, pageTokenKey, LIST, request, {});
      const found: Quota[] = [];
      for (const row of rows) found.push(await whole(call, row));
      return { ...page, quotas: found };
    },
    async createQuota(call, { parent: group, quota = create(QuotaSchema) }) {
      checkLimits(quota);
      await groups.get(call.tx, group);
      const row: Row<"quotas"> = {
        ...limitsOf(quota),
        uid: group,
        parent: parentOf(group),
        used_bytes: 0,
        counted_to: BEGINNING,
        state: QuotaState.COUNTING,
        create_time: call.nowMs,
        update_time: call.nowMs,
      };
      const made = await call.tx
        .insertInto("quotas")
        .values(row)
        .onConflict((on) => on.doNothing())
        .executeTakeFirst();
      if (made.numInsertedOrUpdatedRows === 0n) throw alreadyExists(QuotaSchema.typeName, group);
      await showLimits(call, group, shownLimits(row));
      call.wake("quotas");
      return await whole(call, row);
    },
    async updateQuota(call, { quota = create(QuotaSchema), updateMask }) {
      await quotas.patch(call, quota.uid, quota, updateMask, (_before, after) => checkLimits(after));
      const changed = await noteState(call, await quotas.get(call.tx, quota.uid));
      await showLimits(call, quota.uid, shownLimits(changed));
      return await whole(call, changed);
    },
    async deleteQuota(call, { uid }) {
      const row = await quotas.get(call.tx, uid);
      await endQuota(call, row.uid);
      await showLimits(call, uid, {});
      return {};
    },
  };
}

async function whole(call: Call, row: Row<"quotas">): Promise<Quota> {
  const [shares] = await selectShares(call.tx, row.uid);
  return quotaMessage(row, await usedOf(call.tx, row), shares);
}

/** Removes the quota of a group, with what it has counted. */
export async function endQuota({ tx }: Pick<Call, "tx">, group: string): Promise<void> {
  await tx.deleteFrom("quota_refs").where("quota", "=", group).execute();
  await tx.deleteFrom("quota_shares").where("quota", "=", group).execute();
  await tx.deleteFrom("quotas").where("uid", "=", group).execute();
}

function limitsOf(
  quota: Pick<Quota, Limited | "softPercent">,
): Pick<Row<"quotas">, "bytes" | "repos" | "tags" | "libraries" | "soft_percent"> {
  const of = (limit: bigint | undefined): number | null => (limit === undefined ? null : Number(limit));
  const { bytes, repos, tags, libraries, softPercent } = quota;
  return {
    bytes: of(bytes),
    repos: of(repos),
    tags: of(tags),
    libraries: of(libraries),
    soft_percent: softPercent === 0 ? DEFAULT_SOFT_PERCENT : softPercent,
  };
}

function checkLimits(quota: Quota): void {
  const violations: FieldViolation[] = [];
  for (const field of LIMITED) {
    const limit = quota[field];
    if (limit !== undefined && (limit < 0n || limit > BigInt(Number.MAX_SAFE_INTEGER)))
      violations.push({ field, description: `must be from 0 to ${Number.MAX_SAFE_INTEGER}` });
  }
  if (quota.softPercent < 0 || quota.softPercent > 100)
    violations.push({ field: "softPercent", description: "must be from 1 to 100, or 0 for 80" });
  if (violations.length > 0) throw invalidArgument(...violations);
}

const MAX_SHOWN = 2 ** 31 - 1;

/** What the group shows of its limits: bytes in MiB, since numbers there have 31 bits. */
function shownLimits({ bytes, repos, tags, libraries }: Row<"quotas">): Record<string, number> {
  const limits = { mebibytes: bytes === null ? null : Math.floor(bytes / 2 ** 20), repos, tags, libraries };
  return Object.fromEntries(
    Object.entries(limits).flatMap(([name, limit]) => (limit === null ? [] : [[name, Math.min(limit, MAX_SHOWN)]])),
  );
}
