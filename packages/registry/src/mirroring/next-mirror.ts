import { sql } from "kysely";
import { within } from "@moorage/kernel/aip/scope";
import type { Call } from "@moorage/kernel/core/call";
import { organizationOf } from "@moorage/kernel/lib/uid";

/** A repo that waits for its run. */
export interface WaitingMirror {
  repo: string;
  /** When it was due, in milliseconds of the agreed time. */
  dueMs: number;
}

// More runs than processes have workers together.
const MAX_HELD = 10_000;

/**
 * The repo to copy next: of the organizations with repos that are due, one of which the fewest repos are being copied
 * by any process; of its repos, the one that has been due for the longest. Undefined when none is due.
 */
export async function nextDue(call: Call): Promise<WaitingMirror | undefined> {
  if ((await dueOf(call)) === undefined) return undefined;
  const held = await call.tx
    .selectFrom("mirrors")
    .select("repo")
    .where("hold_until", ">", call.agreedMs)
    .limit(MAX_HELD)
    .execute();
  const counts = new Map<string, number>();
  for (const { repo } of held) counts.set(organizationOf(repo), (counts.get(organizationOf(repo)) ?? 0) + 1);
  const busy = [...counts].toSorted(([, one], [, other]) => one - other).map(([organization]) => organization);
  const free = await dueOf(call, { notOf: busy });
  if (free !== undefined) return free;
  const levels = Map.groupBy(busy, (organization) => counts.get(organization) ?? 0);
  for (const organizations of levels.values()) {
    const found = await dueOf(call, { of: organizations });
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The repo that has been due for the longest, of some organizations or of all others. */
async function dueOf(
  { tx, agreedMs }: Call,
  { of, notOf = [] }: { of?: string[]; notOf?: string[] } = {},
): Promise<WaitingMirror | undefined> {
  let query = tx
    .selectFrom("mirrors")
    .select(["repo", "next_time as dueMs"])
    .where("next_time", "<=", agreedMs)
    .where("hold_until", "<=", agreedMs);
  if (of !== undefined) query = query.where(sql<boolean>`${within(of, sql`repo`)}`);
  if (notOf.length > 0) query = query.where(sql<boolean>`not ${within(notOf, sql`repo`)}`);
  return await query.orderBy("next_time").limit(1).executeTakeFirst();
}
