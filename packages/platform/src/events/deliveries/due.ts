import { type Database, statement } from "@moorage/kernel/store";

/** The deliveries of a subscription that have not ended. */
export interface Backlog {
  subscription: string;
  /** How many; 100,000 stands for as many or more. */
  open: number;
  /** When the oldest of their events happened, in milliseconds since 1970. */
  oldestMs: number;
}

const MAX_COUNTED = 100_000;

// The subscriptions with deliveries that have not ended: one index lookup for each, however many deliveries it has.
const OPEN = `with recursive open (parent) as (
  select (select min(parent) from deliveries where next_time is not null)
  union all
  select (select min(d.parent) from deliveries d where d.next_time is not null and d.parent > open.parent) from open where open.parent is not null
)`;
const OLDEST = (state: number) =>
  `(select min(d.next_time) from deliveries d where d.parent = s.uid and d.state = ${state} and d.next_time <= ?)`;

const selectOutbox = statement("select 1 as one from event_outbox order by n limit 1");
// Materialized, so that each index lookup is made once, however often its result is used.
const selectDue = statement<{ uid: string }>(`${OPEN}, found as materialized (
    select s.uid, ${OLDEST(1)} as fresh, ${OLDEST(3)} as again,
      case when l.until_time > ? then null
        else (select min(d.next_time) from deliveries d where d.parent = s.uid and d.state = 2 and d.next_time is not null) end as unfinished
    from open join subscriptions s on s.uid = open.parent left join subscription_leases l on l.subscription = s.uid
    where s.state = 1 and (l.holder is null or l.holder = ? or l.until_time <= ?)
  ) select uid from found where fresh is not null or again is not null or unfinished is not null
  order by coalesce(unfinished, case when fresh is null or again < fresh then again else fresh end), uid limit ?`);
const selectBacklogs = statement<{ uid: string; n: number; time: number }>(`${OPEN}
  select b.uid, b.n, (select e.time from events e where e.seq = b.seq) as time from (
    select c.uid,
      (select count(*) from (select 1 as one from deliveries d where d.parent = c.uid and d.next_time is not null limit ${MAX_COUNTED}) as counted) as n,
      (select min(seq) from (select seq from deliveries d where d.parent = c.uid and d.next_time is not null limit ${MAX_COUNTED}) as counted) as seq
    from (select s.uid from open join subscriptions s on s.uid = open.parent order by s.uid limit ?) as c
  ) as b where b.seq is not null order by b.uid`);

/** Whether there are events that have no number yet. */
export async function hasOutbox(db: Database): Promise<boolean> {
  return (await selectOutbox(db)).length > 0;
}

/**
 * The subscriptions that this process may send for and that have something to send: active ones, with due or unfinished
 * deliveries, whose lease is free, has ended or is held by the process. Those that have waited longest come first. At
 * most `limit`.
 */
export async function dueSubscriptions(
  db: Database,
  { agreedMs, holder, limit }: { agreedMs: number; holder: string; limit: number },
): Promise<string[]> {
  return (await selectDue(db, agreedMs, agreedMs, agreedMs, holder, agreedMs, limit)).map(({ uid }) => uid);
}

/** The backlog of each subscription that has one, also of paused ones, in the order of their uids. At most `limit`. */
export async function backlogs(db: Database, { limit }: { limit: number }): Promise<Backlog[]> {
  return (await selectBacklogs(db, limit)).map(({ uid, n, time }) => ({ subscription: uid, open: n, oldestMs: time }));
}
