import { create } from "@bufbuild/protobuf";
import { type Quota, QuotaSchema, QuotasService, QuotaState } from "@moorage/api/messages";
import { columnIs, listOf, listPage } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { resource } from "@moorage/kernel/aip/resource";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { alreadyExists, type FieldViolation, invalidArgument, notFound } from "@moorage/kernel/errors";
import { groups, showLimits } from "@moorage/platform/iam";
import { parentOf } from "@moorage/kernel/lib/uid";
import { type Row, statement } from "@moorage/kernel/store";
import { noteState } from "./crossings.ts";
import { DEFAULT_SOFT_PERCENT, type Limited, usedOf } from "./levels.ts";
import { quotaInit, quotaMessage } from "./message.ts";
import { endQuota } from "./end.ts";
import { BEGINNING, COUNTED } from "./positions.ts";

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
    getQuota: async (call, { uid }) => await whole(call, await setQuota(call, uid)),
    async listQuotas(call, request) {
      const { rows, ...page } = await listPage(call, pageTokenKey, LIST, request, {
        filters: () => [columnIs("is_set", 1)],
      });
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
        cache_bytes: null,
        wanted_bytes: 0,
        is_set: 1,
        create_time: call.nowMs,
        update_time: call.nowMs,
      };
      const { create_time, update_time } = row;
      const made = await call.tx
        .insertInto("quotas")
        .values(row)
        // What is counted already for an upstream is not counted again.
        .onConflict((on) =>
          on
            .column("uid")
            .doUpdateSet({ ...limitsOf(quota), is_set: 1, create_time, update_time })
            .where("quotas.is_set", "=", 0),
        )
        .returningAll()
        .executeTakeFirst();
      if (made === undefined) throw alreadyExists(QuotaSchema.typeName, group);
      await showLimits(call, group, shownLimits(made));
      call.wake("quotas");
      return await whole(call, made.counted_to === COUNTED ? await noteState(call, made) : made);
    },
    async updateQuota(call, { quota = create(QuotaSchema), updateMask }) {
      await setQuota(call, quota.uid);
      await quotas.patch(call, quota.uid, quota, updateMask, (_before, after) => checkLimits(after));
      const changed = await noteState(call, await quotas.get(call.tx, quota.uid));
      await showLimits(call, quota.uid, shownLimits(changed));
      return await whole(call, changed);
    },
    async deleteQuota(call, { uid }) {
      await unsetQuota(call, await setQuota(call, uid));
      await showLimits(call, uid, {});
      return {};
    },
  };
}

async function whole(call: Call, row: Row<"quotas">): Promise<Quota> {
  const [shares] = await selectShares(call.tx, row.uid);
  return quotaMessage(row, await usedOf(call.tx, row), shares);
}

/** The row of a quota that somebody has set. Throws NOT_FOUND for one that only counts what is kept of a registry. */
async function setQuota({ tx }: Call, uid: string): Promise<Row<"quotas">> {
  const row = await quotas.get(tx, uid);
  if (row.is_set === 0) throw notFound(QuotaSchema.typeName, uid);
  return row;
}

const NO_LIMITS = { bytes: null, repos: null, tags: null, libraries: null } as const;

/** Ends a quota: what counts for an upstream goes on to be counted. */
async function unsetQuota(call: Call, { uid, cache_bytes, counted_to }: Row<"quotas">): Promise<void> {
  if (cache_bytes === null) return await endQuota(call, uid);
  await call.tx.deleteFrom("quota_shares").where("quota", "=", uid).execute();
  const state = counted_to === COUNTED ? QuotaState.OK : QuotaState.COUNTING;
  await call.tx
    .updateTable("quotas")
    .set({ ...NO_LIMITS, state, is_set: 0 })
    .where("uid", "=", uid)
    .execute();
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
