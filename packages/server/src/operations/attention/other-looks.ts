import {
  AttentionGapReason,
  Capability,
  CapabilitySchema,
  DeliveriesService,
  DeliveryState,
  FindingsService,
  QuotasService,
  QuotaState,
  type UIDPFilter,
} from "@moorage/api/messages";
import { sql } from "kysely";
import { neededFor } from "@moorage/kernel/aip/access";
import { within } from "@moorage/kernel/aip/scope";
import type { Call } from "@moorage/kernel/core/call";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { holdsOnOwn } from "@moorage/platform/auth";
import { groupPath } from "@moorage/registry/registry";
import { isAnyFeed, staleFeeds } from "@moorage/security/security";
import { countOf, detailOf, type Looked, MAX_COUNTED, NAMED, rootsFor, type Subject, timeOf } from "./look.ts";

const FINDINGS = neededFor(FindingsService.method.listFindings);
const DELIVERIES = neededFor(DeliveriesService.method.listDeliveries);
const QUOTAS = neededFor(QuotasService.method.listQuotas);
const DAY_MS = 24 * 3_600_000;
const DEAD_WITHIN_MS = 7 * DAY_MS;
const ENDS_WITHIN_MS = 7 * DAY_MS;

/** Whether there is a feed at all: for who may list findings, wherever. */
export async function lookForFeeds(call: Call): Promise<Looked> {
  const { lacking } = await rootsFor(call, undefined, FINDINGS);
  if (lacking !== undefined) return lacking;
  return { count: (await isAnyFeed(call.tx)) ? 0n : 1n };
}

/** Feeds that are older than they should be, as the answers that rest on them say, too. */
export async function lookAtFeeds(call: Call): Promise<Looked> {
  const { lacking } = await rootsFor(call, undefined, FINDINGS);
  if (lacking !== undefined) return lacking;
  const stale = await staleFeeds(call.tx, call.nowMs, "all findings");
  const oldest = stale.toSorted((a, b) => (a.successMs ?? 0) - (b.successMs ?? 0));
  return {
    count: BigInt(stale.length),
    subjects: oldest.slice(0, NAMED).map(({ feed, successMs }) => ({ name: feed, count: 1n, ...timeOf(successMs) })),
  };
}

/** Dead letters, summed up by subscription. */
export async function lookAtDeliveries(call: Call, uidp: UIDPFilter | undefined): Promise<Looked> {
  const { roots, lacking } = await rootsFor(call, uidp, DELIVERIES);
  if (lacking !== undefined) return lacking;
  const { rows } = await sql<{ parent: string; last_error: string; create_time: number }>`
    select t.parent, t.last_error, t.create_time from deliveries as t
    where t.state = ${sql.lit(DeliveryState.DEAD)} and t.create_time >= ${call.nowMs - DEAD_WITHIN_MS}
      and ${within(roots, sql`t.parent`)} limit ${MAX_COUNTED + 1}`.execute(call.tx);
  const most = [...Map.groupBy(rows, ({ parent }) => parent)].sort(
    ([a, some], [b, others]) => others.length - some.length || (a < b ? -1 : 1),
  );
  const subjects: Subject[] = [];
  for (const [uid, dead] of most.slice(0, NAMED)) {
    const newest = dead.reduce((a, b) => (Number(b.create_time) > Number(a.create_time) ? b : a));
    const row = await call.tx.selectFrom("subscriptions").select("sink").where("uid", "=", uid).executeTakeFirst();
    const detail = detailOf(newest.last_error);
    subjects.push({ uid, name: row?.sink ?? "", detail, count: BigInt(dead.length), ...timeOf(newest.create_time) });
  }
  return { ...countOf(rows), subjects };
}

/** The caller's own personal tokens that end soon, the next one first. */
export async function lookAtTokens(call: Call): Promise<Looked> {
  const need = Capability.CAP_IAM_IDENTITY_LIST;
  if (!holdsOnOwn(call, need))
    return { gaps: [{ reason: AttentionGapReason.PERMISSION, missing: [CapabilitySchema.value[need]?.name ?? ""] }] };
  const rows = await call.tx
    .selectFrom("personal_tokens")
    .select(["uid", "name", "expiration_time"])
    .where("identity", "=", call.caller.identity)
    .where("expiration_time", ">", call.nowMs)
    .where("expiration_time", "<=", call.nowMs + ENDS_WITHIN_MS)
    .orderBy("expiration_time")
    .limit(MAX_COUNTED + 1)
    .execute();
  return {
    ...countOf(rows),
    subjects: rows
      .slice(0, NAMED)
      .map(({ uid, name, expiration_time: endMs }) => ({ uid, name, count: 1n, time: timestamp(Number(endMs)) })),
  };
}

/** Quotas in one of the two states, as they were noted. */
export async function lookAtQuotas(call: Call, uidp: UIDPFilter | undefined, state: QuotaState): Promise<Looked> {
  const { roots, lacking } = await rootsFor(call, uidp, QUOTAS);
  if (lacking !== undefined) return lacking;
  const full = sql.lit(QuotaState.WARNED);
  const { rows } = await sql<{ uid: string }>`
    select t.uid from quotas as t where t.state in (${full}, ${sql.lit(QuotaState.EXCEEDED)}) and t.state = ${state}
      and ${within(roots)} order by t.uid limit ${MAX_COUNTED + 1}`.execute(call.tx);
  const subjects: Subject[] = [];
  for (const { uid } of rows.slice(0, NAMED)) subjects.push({ uid, name: await groupPath(call.tx, uid), count: 1n });
  return { ...countOf(rows), subjects };
}
