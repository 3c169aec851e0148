import { ReplicationItemState } from "@moorage/api/messages";
import { type Database, select } from "@moorage/kernel/store";

const { PENDING, RUNNING, FAILED, BLOCKED, STOPPED } = ReplicationItemState;

/** What of replications is not done. */
export interface ReplicationFigures {
  /** Items by their state, each up to a limit. */
  items: ReadonlyMap<string, number>;
  /** Since when the oldest item has waited, in milliseconds since 1970; undefined when none does. */
  waitingSinceMs: number | undefined;
}

/** The states of items that are not done, as in metrics. */
const OPEN_STATES = new Map<string, ReplicationItemState>([
  ["pending", PENDING],
  ["running", RUNNING],
  ["failed", FAILED],
  ["blocked", BLOCKED],
  ["stopped", STOPPED],
]);

/** So many items of a state are counted. */
const MAX_COUNTED = 100_000;
/** As the index of open items has it. */
const IS_OPEN = "i.state in (0, 1, 3, 4, 5)";

/** Reads what of replications is not done; items of disabled ones do not count as late. */
export async function replicationFigures(db: Database): Promise<ReplicationFigures> {
  const items = new Map<string, number>();
  for (const [name, state] of OPEN_STATES) {
    const [counted] = await select<{ n: number }>(
      db,
      `select count(*) as n from (select 1 as one from replication_items as i
         where ${IS_OPEN} and i.state = ? limit ${MAX_COUNTED}) as counted`,
      [state],
    );
    items.set(name, Number(counted?.n ?? 0));
  }
  const waiting = await Promise.all([PENDING, RUNNING].map((state) => oldest(db, state)));
  const known = waiting.filter((each) => each !== undefined);
  return { items, waitingSinceMs: known.length === 0 ? undefined : Math.min(...known) };
}

async function oldest(db: Database, state: ReplicationItemState): Promise<number | undefined> {
  const [found] = await select<{ wait_time: number }>(
    db,
    `select i.wait_time from replication_items as i join replications as r on r.uid = i.replication
     where ${IS_OPEN} and i.state = ? and r.disabled = 0 order by i.wait_time limit 1`,
    [state],
  );
  return found?.wait_time;
}
