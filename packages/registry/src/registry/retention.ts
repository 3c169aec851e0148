import type { Call } from "@moorage/kernel/core/call";
import { createTurns } from "@moorage/kernel/lib/turns";
import { type Database, statement } from "@moorage/kernel/store";
import { type Policy, policyOf } from "./policies.ts";
import { coversSince, pullCoverage } from "./pulls/coverage.ts";
import { lastUses } from "./pulls/last-uses.ts";

/** The columns of a tag that retention uses. */
interface RetainedTag {
  uid: string;
  name: string;
  digest: string;
  update_time: number;
  last_pull_time: number | null;
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
  /** Whether any rule asks when tags were used last. */
  readsUses: boolean;
  /**
   * The index of the rule that expires the tag, which was last used at `usedMs`. `unknown`: it does not, only because
   * not all pulls are known that it asks for. Undefined when the tag is kept.
   */
  expiredBy(tag: RetainedTag, usedMs: number): { rule: number; unknown: boolean } | undefined;
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
const TAG = "select uid, name, digest, update_time, last_pull_time from tags where parent = ?";
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
  const readsUses = rules.some(({ keepPulledForMs, keepLastPulled }) => keepPulledForMs > 0 || keepLastPulled > 0);
  // Before what is pulled: what is covered now is in what is read then.
  const coverage = readsUses ? await pullCoverage(db) : undefined;
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
  const lastUsedMs = await lastUsedOf(db, repo, policy, nowMs, ruleOf);
  const lastMs = rules.map(({ keepLast, keepForMs, keepPulledForMs, keepLastPulled }, at) => {
    return Math.min(
      keepLast > 0 ? (lastKept[at]?.update_time ?? -Infinity) : Infinity,
      keepForMs > 0 ? nowMs - keepForMs : Infinity,
      // A tag was used when it was moved, at the latest.
      keepPulledForMs > 0 ? nowMs - keepPulledForMs : Infinity,
      keepLastPulled > 0 ? (lastUsedMs[at] ?? -Infinity) : Infinity,
    );
  });
  return {
    readsUses,
    lastMs: Math.floor(Math.max(-Infinity, ...lastMs)),
    expiredBy(tag, usedMs) {
      const at = ruleOf(tag.name);
      const rule = rules[at];
      if (rule === undefined) return undefined;
      if (rule.keepLast > 0 && !isOlder(tag, lastKept[at])) return undefined;
      if (rule.keepForMs > 0 && tag.update_time >= nowMs - rule.keepForMs) return undefined;
      const pulledSinceMs = [
        ...(rule.keepPulledForMs > 0 ? [nowMs - rule.keepPulledForMs] : []),
        ...(rule.keepLastPulled > 0 ? [lastUsedMs[at] ?? -Infinity] : []),
      ];
      if (pulledSinceMs.some((sinceMs) => usedMs >= sinceMs)) return undefined;
      // Of pulls that are not known the tag may be one that is kept.
      const unknown = coverage !== undefined && pulledSinceMs.some((sinceMs) => !coversSince(coverage, sinceMs));
      return { rule: at, unknown };
    },
  };
}

/**
 * When the last tag was used that each rule with `keepLastPulled` keeps for that, in milliseconds since 1970; undefined
 * where it keeps all. It reads all tags, a slice at a time.
 */
async function lastUsedOf(
  db: Database,
  repo: string,
  { rules }: Policy,
  nowMs: number,
  ruleOf: (name: string) => number,
): Promise<(number | undefined)[]> {
  const used: number[][] = rules.map(() => []);
  const turn = createTurns();
  let last: Pick<RetainedTag, "uid" | "update_time"> | undefined = rules.some((rule) => rule.keepLastPulled > 0)
    ? { uid: "", update_time: Number.MAX_SAFE_INTEGER }
    : undefined;
  while (last !== undefined) {
    const slice: RetainedTag[] = await selectNewest(db, repo, last.update_time, last.uid);
    const useOf = await lastUses(db, repo, slice, nowMs);
    for (const tag of slice) {
      const at = ruleOf(tag.name);
      const wanted = rules[at]?.keepLastPulled ?? 0;
      await turn();
      if (wanted > 0) keepLatest(used[at] ?? [], useOf(tag), wanted);
    }
    last = slice.length < SLICE ? undefined : slice.at(-1);
  }
  return rules.map(({ keepLastPulled }, at) => used[at]?.[keepLastPulled - 1]);
}

/** Adds a time to a list of the latest ones, the latest first, of at most so many. */
function keepLatest(times: number[], timeMs: number, max: number): void {
  if (times.length === max && (times.at(-1) ?? 0) >= timeMs) return;
  const at = times.findIndex((each) => each < timeMs);
  times.splice(at < 0 ? times.length : at, 0, timeMs);
  if (times.length > max) times.pop();
}

/**
 * The expired tags, in the order of their last move, oldest first, one slice at a time. It reads as planRetention does,
 * and only tags that are old enough. `unknown` is called for each that is kept only because not all pulls are known.
 */
export async function* expiringTags(
  db: Database,
  repo: string,
  plan: RetentionPlan,
  nowMs: number,
  unknown: () => void = () => {},
): AsyncGenerator<Expiring[]> {
  const turn = createTurns();
  let last: Pick<RetainedTag, "uid" | "update_time"> | undefined =
    plan.lastMs === -Infinity ? undefined : { uid: "", update_time: Number.MIN_SAFE_INTEGER };
  while (last !== undefined) {
    const slice: RetainedTag[] = await selectOldest(db, repo, last.update_time, last.uid, plan.lastMs);
    const expiring: Expiring[] = [];
    const useOf = plan.readsUses ? await lastUses(db, repo, slice, nowMs) : undefined;
    for (const tag of slice) {
      const expired = plan.expiredBy(tag, useOf?.(tag) ?? 0);
      if (expired?.unknown === true) unknown();
      else if (expired !== undefined) expiring.push({ tag, rule: expired.rule });
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
    for await (const found of expiringTags(call.tx, repo, plan, call.nowMs)) {
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
