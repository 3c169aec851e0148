import type { CallData } from "@moorage/kernel/core/call";
import { systemCall } from "@moorage/kernel/core/system-call";
import type { Clock } from "@moorage/kernel/lib/clock";
import { type Database, statement } from "@moorage/kernel/store";
import { policyOf } from "./policies.ts";

/** Tags of one repo that were to end by a time, in milliseconds since 1970. */
export interface EndedTags {
  repo: string;
  uids: readonly string[];
  endMs: number;
}

// Tags deleted in one transaction: few, because other writers wait for it.
const BATCH = 100;
const selectDue = statement<{ uid: string; parent: string; name: string; expire_time: number; policy: string | null }>(
  `select t.uid, t.parent, t.name, t.expire_time, r.tag_policy as policy from tags as t join repos as r on r.uid = t.parent
    where t.expire_time is not null and t.expire_time <= ? and (t.expire_time, t.uid) > (?, ?)
    order by t.expire_time, t.uid limit ${BATCH}`,
);

/** How the job works with the installation. */
interface EndDeps {
  reader: Database;
  clock: Clock;
  end(data: CallData, input: EndedTags): Promise<{ ended: number }>;
}

/**
 * Deletes the tags whose end has come, each once. Those that their repo's policy protects stay, and go when it no
 * longer does. Returns how many went and how many stay so.
 */
export async function endDueTags(
  { reader, clock, end }: EndDeps,
  signal: AbortSignal,
): Promise<{ ended: number; protected: number }> {
  const endMs = clock.nowMs();
  const done = { ended: 0, protected: 0 };
  for (let last: { uid: string; expire_time: number } | undefined = { uid: "", expire_time: 0 }; last !== undefined;) {
    signal.throwIfAborted();
    const due: Awaited<ReturnType<typeof selectDue>> = await selectDue(reader, endMs, last.expire_time, last.uid);
    const loose = due.filter(({ policy, name }) => !policyOf(policy).isProtected(name));
    done.protected += due.length - loose.length;
    for (const [repo, tags] of Map.groupBy(loose, ({ parent }) => parent)) {
      signal.throwIfAborted();
      const uids = tags.map(({ uid }) => uid);
      done.ended += (await end(systemCall(clock.nowMs()), { repo, uids, endMs })).ended;
    }
    last = due.length < BATCH ? undefined : due.at(-1);
  }
  return done;
}
