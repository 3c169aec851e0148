import type { Call } from "@moorage/kernel/core/call";
import { createTurns } from "@moorage/kernel/lib/turns";
import { type Database, statement } from "@moorage/kernel/store";
import { type Policy, policyOf } from "./policies.ts";

/** The columns of a tag that retention uses. */
interface RetainedTag {
  uid: string;
  name: string;
  digest: string;
  update_time: number;
}
/** A tag to delete, and the index of the rule that expires it. */
export interface Expiring {
  tag: RetainedTag;
  rule: number;
}
/**
 * Which tags of a repo a policy expires at one time. The plan stays valid when tags move afterwards: a moved tag is
 * recent, so it is kept.
 */
export interface RetentionPlan {
  /** The index of the rule that expires the tag. Undefined when the tag is kept. */
  expiredBy(tag: RetainedTag): number | undefined;
  /** Tags that moved after this time are kept, in milliseconds since 1970; -Infinity means that all are. */
  lastMs: number;
}
/** How retention accesses the database from outside of a transaction. */
export interface RetentionAccess {
  read<T>(work: (call: Call) => Promise<T>): Promise<T>;
  /** Runs the command `registry.expireTags`. */
  expire(input: ExpireInput): Promise<{ expired: number }>;
}
/** Expired tags. `policy`: the text of the policy under which they were found. */
export interface ExpireInput {
  repo: string;
  policy: string;
  tags: Pick<RetainedTag, "uid" | "name" | "update_time">[];
}

// The event loop is blocked while a slice is read, for a few milliseconds.
const SLICE = 250;
// Tags deleted in one transaction: few, because other writers wait for it.
const BATCH = 100;
const TAG = "select uid, name, digest, update_time from tags where parent = ?";
const selectNewest = statement<RetainedTag>(
  `${TAG} and (update_time, uid) < (?, ?) order by update_time desc, uid desc limit ${SLICE}`,
);
const selectOldest = statement<RetainedTag>(
  `${TAG} and (update_time, uid) > (?, ?) and update_time <= ? order by update_time, uid limit ${SLICE}`,
);

/**
 * Finds, for each rule with `keepLast`, the oldest tag that it keeps, reading the newest tags first; tags moved in the
 * same millisecond are ordered by uid. It reads in slices, without a transaction that others wait for, and its memory
 * use does not depend on the size of the repo.
 */
export async function planRetention(db: Database, repo: string, policy: Policy, nowMs: number): Promise<RetentionPlan> {
  const { rules, isProtected } = policy;
  const ruleOf = (name: string, among = rules): number =>
    isProtected(name) ? -1 : among.findIndex((rule) => rule.matches(name));
  const missing = rules.map(({ keepLast }) => keepLast);
  const lastKept: (RetainedTag | undefined)[] = rules.map(() => undefined);
  const turn = createTurns();
  let last: Pick<RetainedTag, "uid" | "update_time"> | undefined = { uid: "", update_time: Number.MAX_SAFE_INTEGER };
  while (last !== undefined && missing.some((n) => n > 0)) {
    const slice: RetainedTag[] = await selectNewest(db, repo, last.update_time, last.uid);
    // Rules after the last one that still lacks tags already have as many as they keep.
    const unfilled = rules.slice(0, missing.findLastIndex((n) => n > 0) + 1);
    for (const tag of slice) {
      const rule = ruleOf(tag.name, unfilled);
      await turn();
      const wanted = missing[rule] ?? 0;
      if (wanted === 0) continue;
      missing[rule] = wanted - 1;
      if (wanted === 1) lastKept[rule] = tag;
    }
    last = slice.length < SLICE ? undefined : slice.at(-1);
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
 * The expired tags, in the order of their last move, oldest first, one slice at a time. It reads as planRetention does,
 * and only tags that are old enough.
 */
export async function* expiringTags(db: Database, repo: string, plan: RetentionPlan): AsyncGenerator<Expiring[]> {
  const turn = createTurns();
  let last: Pick<RetainedTag, "uid" | "update_time"> | undefined =
    plan.lastMs === -Infinity ? undefined : { uid: "", update_time: Number.MIN_SAFE_INTEGER };
  while (last !== undefined) {
    const slice: RetainedTag[] = await selectOldest(db, repo, last.update_time, last.uid, plan.lastMs);
    const expiring: Expiring[] = [];
    for (const tag of slice) {
      const rule = plan.expiredBy(tag);
      if (rule !== undefined) expiring.push({ tag, rule });
      await turn();
    }
    yield expiring;
    last = slice.length < SLICE ? undefined : slice.at(-1);
  }
}

/**
 * Deletes the tags of a repo that its policy expires now, in several transactions. Returns how many. A tag that moves
 * meanwhile is kept, and nothing more is deleted once the policy has changed.
 */
export async function expireRepoTags({ read, expire }: RetentionAccess, repo: string): Promise<number> {
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
