import { setImmediate } from "node:timers/promises";
import type { Call } from "../core/call.ts";
import { type Database, statement } from "../store/index.ts";
import { type Policy, policyOf } from "./policies.ts";

/** A tag as retention looks at it. */
export interface RetainedTag {
  uid: string;
  name: string;
  digest: string;
  update_time: number;
}
/** A tag that goes, and the rule it falls under, counted from 0. */
export interface Expiring {
  tag: RetainedTag;
  rule: number;
}
/**
 * What a policy means for a repo at one time. It stays true when tags move meanwhile: what moves, moves to where tags
 * are kept.
 */
export interface RetentionPlan {
  /** The rule that expires the tag; undefined: it stays. */
  expiredBy(tag: RetainedTag): number | undefined;
  /** What moved after this stays, in milliseconds since 1970; -Infinity: everything does. */
  lastMs: number;
}
/** How retention gets at the database from outside a transaction. */
export interface RetentionDoor {
  read<T>(work: (call: Call) => Promise<T>): Promise<T>;
  /** Runs the command `registry.expireTags`. */
  expire(input: ExpireInput): Promise<{ expired: number }>;
}
/** Tags that were found to expire under the policy of this text. */
export interface ExpireInput {
  repo: string;
  policy: string;
  tags: Pick<RetainedTag, "uid" | "name" | "update_time">[];
}

// Each slice keeps the event loop for a few milliseconds, as it is read and as its patterns are tried.
const SLICE = 250;
// What is deleted in one transaction: others wait for it.
const BATCH = 100;
const TAG = "select uid, name, digest, update_time from tags where parent = ?";
const selectNewest = statement<RetainedTag>(
  `${TAG} and (update_time, uid) < (?, ?) order by update_time desc, uid desc limit ${SLICE}`,
);
const selectOldest = statement<RetainedTag>(
  `${TAG} and (update_time, uid) > (?, ?) and update_time <= ? order by update_time, uid limit ${SLICE}`,
);

/**
 * Finds for each rule with a number the last tag that it keeps, newest first; tags moved in the same millisecond are
 * told apart by uid. The memory taken is that of one slice, whatever the repo holds. Reads in slices, and not in a
 * transaction that others wait for.
 */
export async function planRetention(db: Database, repo: string, policy: Policy, nowMs: number): Promise<RetentionPlan> {
  const { rules, isProtected } = policy;
  const ruleOf = (name: string, among = rules): number =>
    isProtected(name) ? -1 : among.findIndex((rule) => rule.matches(name));
  const missing = rules.map(({ keepLast }) => keepLast);
  const lastKept: (RetainedTag | undefined)[] = rules.map(() => undefined);
  let last: Pick<RetainedTag, "uid" | "update_time"> | undefined = { uid: "", update_time: Number.MAX_SAFE_INTEGER };
  while (last !== undefined && missing.some((n) => n > 0)) {
    const slice: RetainedTag[] = await selectNewest(db, repo, last.update_time, last.uid);
    // Rules after the last that lacks tags have what they need.
    const asked = rules.slice(0, missing.findLastIndex((n) => n > 0) + 1);
    for (const tag of slice) {
      const rule = ruleOf(tag.name, asked);
      const wanted = missing[rule] ?? 0;
      if (wanted === 0) continue;
      missing[rule] = wanted - 1;
      if (wanted === 1) lastKept[rule] = tag;
    }
    last = slice.length < SLICE ? undefined : slice.at(-1);
    await setImmediate();
  }
  const lastMs = rules.map(({ keepLast, keepForMs }, at) => {
    return Math.min(
      keepLast > 0 ? (lastKept[at]?.update_time ?? -Infinity) : Infinity,
      keepForMs > 0 ? nowMs - keepForMs : Infinity,
    );
  });
  return {
    lastMs: Math.floor(Math.max(-Infinity, ...lastMs)),
    expiredBy(tag) {
      const at = ruleOf(tag.name);
      const rule = rules[at];
      if (rule === undefined) return undefined;
      const keptByNumber = rule.keepLast > 0 && !isOlder(tag, lastKept[at]);
      const keptByAge = rule.keepForMs > 0 && tag.update_time >= nowMs - rule.keepForMs;
      return keptByNumber || keptByAge ? undefined : at;
    },
  };
}

/**
 * The tags that go, those that moved longest ago first, as many at a time as a slice has of them. Reads as
 * planRetention does, and only what is old enough.
 */
export async function* expiringTags(db: Database, repo: string, plan: RetentionPlan): AsyncGenerator<Expiring[]> {
  let last: Pick<RetainedTag, "uid" | "update_time"> | undefined =
    plan.lastMs === -Infinity ? undefined : { uid: "", update_time: Number.MIN_SAFE_INTEGER };
  while (last !== undefined) {
    const slice: RetainedTag[] = await selectOldest(db, repo, last.update_time, last.uid, plan.lastMs);
    yield slice.flatMap((tag) => {
      const rule = plan.expiredBy(tag);
      return rule === undefined ? [] : [{ tag, rule }];
    });
    last = slice.length < SLICE ? undefined : slice.at(-1);
    await setImmediate();
  }
}

/**
 * Deletes a repo's tags that its policy lets go now, some at a time. Answers how many. A tag that moves while this goes
 * on stays, and nothing more goes once the policy has changed: it comes out as if all of it had gone when it was
 * planned.
 */
export async function expireRepoTags({ read, expire }: RetentionDoor, repo: string): Promise<number> {
  return await read(async (call) => {
    const row = await call.tx.selectFrom("repos").select("tag_policy").where("uid", "=", repo).executeTakeFirst();
    const text = row?.tag_policy ?? null;
    const policy = policyOf(text);
    if (text === null || policy.rules.length === 0) return 0;
    const plan = await planRetention(call.tx, repo, policy, call.nowMs);
    let expired = 0;
    for await (const found of expiringTags(call.tx, repo, plan)) {
      for (let at = 0; at < found.length; at += BATCH) {
        const tags = found
          .slice(at, at + BATCH)
          .map(({ tag: { uid, name, update_time } }) => ({ uid, name, update_time }));
        expired += (await expire({ repo, policy: text, tags })).expired;
      }
    }
    return expired;
  });
}

function isOlder(tag: RetainedTag, last: RetainedTag | undefined): boolean {
  if (last === undefined) return false;
  return tag.update_time < last.update_time || (tag.update_time === last.update_time && tag.uid < last.uid);
}
