import { randomUUID } from "node:crypto";
import type { Call } from "@moorage/kernel/core/call";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { type Row, takeAdvisoryLock } from "@moorage/kernel/store";
import { FETCH_ALL } from "./define.ts";
import type { FeedDefinition } from "./definition.ts";

// What becomes of a feed that is there, in a transaction of the caller's.

/**
 * The feed, for somebody who changes it. Undefined when there is none. Throws FAILED_PRECONDITION for one that is being
 * removed, and unless `isOfFile` may be, for one that a file sets.
 */
export async function feedToChange(
  { tx }: Call,
  name: string,
  { isOfFile = false }: { isOfFile?: boolean } = {},
): Promise<Row<"feeds"> | undefined> {
  await takeAdvisoryLock(tx, "feeds");
  const row = await tx.selectFrom("feeds").selectAll().where("name", "=", name).executeTakeFirst();
  if (row === undefined) return undefined;
  if (row.delete_time !== null) throw new MoorageError(Code.FailedPrecondition, `the feed ${name} is being removed`);
  if (row.origin === "file" && !isOfFile)
    throw new MoorageError(
      Code.FailedPrecondition,
      `the feed ${name} is of MOORAGE_FEEDS_FILE: change it or take it out there, then start the server`,
    );
  return row;
}

/**
 * Gives a feed another address, interval, license or products. From another address all of it is fetched, as soon as
 * the server comes to it; an import from the old one that is under way writes nothing more.
 */
export async function changeFeed(call: Call, before: Row<"feeds">, after: FeedDefinition): Promise<void> {
  const products = JSON.stringify(after.products);
  const isElsewhere = before.address !== after.address;
  call.wake("feeds");
  call.wake("matching");
  await call.tx
    .updateTable("feeds")
    .set({
      address: after.address,
      licence: after.licence,
      interval_ms: after.intervalMs,
      products,
      covers: JSON.stringify(after.covers ?? []),
      ...(before.products !== products && { restate: randomUUID() }),
      ...(isElsewhere && { ...FETCH_ALL, run: randomUUID(), error: "" }),
      ...(isElsewhere && after.address !== "" && { request_time: soon(call, before) }),
    })
    .where("name", "=", before.name)
    .execute();
}

/** Notes that the feed is to be fetched now. */
export async function requestFetch(call: Call, feed: Row<"feeds">): Promise<void> {
  call.wake("feeds");
  await call.tx
    .updateTable("feeds")
    .set({ request_time: soon(call, feed) })
    .where("name", "=", feed.name)
    .execute();
}

/** Now, and after the last attempt: the clocks of two processes may differ. */
function soon({ nowMs }: Call, { attempt_time: attemptMs }: Pick<Row<"feeds">, "attempt_time">): number {
  return Math.max(nowMs, (attemptMs ?? 0) + 1);
}

/** Notes that the feed is to be removed with its records. It is fetched no more, and no import of it goes on. */
export async function markForRemoval(call: Call, { name }: Row<"feeds">): Promise<void> {
  call.wake("feeds");
  await call.tx
    .updateTable("feeds")
    .set({ delete_time: call.nowMs, run: randomUUID() })
    .where("name", "=", name)
    .execute();
}
