import { randomUUID } from "node:crypto";
import type { Call } from "@moorage/kernel/core/call";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { takeAdvisoryLock } from "@moorage/kernel/store";
import { type FeedDefinition, MAX_FEEDS } from "./definition.ts";

// How feeds are defined, in a transaction of the caller's.

/** The feeds to define, and how. */
export interface DefinedFeeds {
  feeds: FeedDefinition[];
  /** Whose they are. Of a file they come all together: what it has no longer is fetched no more. */
  origin: "file" | "command";
  /** Whether a feed that is there already is an error, or is changed. */
  mustBeNew: boolean;
  /** The caller fetches them now, so servers leave them alone until that is due again as after a failure. */
  isFetched?: boolean;
}

/** All columns by which the next fetch asks for what is new alone. Without them it fetches all. */
export const FETCH_ALL = { etag: "", last_modified: "", newest: null, full_time: null } as const;

/**
 * Adds feeds, and with `mustBeNew` false changes those that are there. What a file has no longer becomes a feed of the
 * command, without an address. A feed that is being removed, and that the file has again, stays. Throws ALREADY_EXISTS,
 * and FAILED_PRECONDITION for another format than the feed has, and for too many feeds.
 */
export async function defineFeeds(
  call: Call,
  { feeds, origin, mustBeNew, isFetched = false }: DefinedFeeds,
): Promise<void> {
  await takeAdvisoryLock(call.tx, "feeds");
  const columns = ["name", "origin", "format", "products", "delete_time"] as const;
  const known = new Map((await call.tx.selectFrom("feeds").select(columns).execute()).map((row) => [row.name, row]));
  for (const { name, format } of feeds) {
    const row = known.get(name);
    if (row === undefined) continue;
    if (mustBeNew) {
      const isGoing = row.delete_time !== null;
      const how = isGoing
        ? `the feed ${name} is being removed: add it when it is gone`
        : `there is a feed ${name} already`;
      throw new MoorageError(Code.AlreadyExists, how);
    }
    if (row.format !== format)
      throw new MoorageError(
        Code.FailedPrecondition,
        `the feed ${name} has the format ${row.format}: remove it first, with all its records`,
      );
  }
  const names = new Set([...known.keys(), ...feeds.map(({ name }) => name)]);
  if (names.size > MAX_FEEDS) throw new MoorageError(Code.FailedPrecondition, `there are ${MAX_FEEDS} feeds already`);
  for (const feed of feeds) await putFeed(call, feed, { origin, isFetched }, known.get(feed.name));
  if (origin === "file") {
    const listed = new Set(feeds.map(({ name }) => name));
    const left = [...known.values()].filter((row) => row.origin === "file" && !listed.has(row.name));
    for (const { name } of left)
      await call.tx.updateTable("feeds").set({ origin: "command", address: "" }).where("name", "=", name).execute();
  }
}

/** `before`: what is there of the feed. */
async function putFeed(
  call: Call,
  feed: FeedDefinition,
  { origin, isFetched }: { origin: string; isFetched: boolean },
  before: { products: string; delete_time: number | null } | undefined,
): Promise<void> {
  const products = JSON.stringify(feed.products);
  const isGoing = before !== undefined && before.delete_time !== null;
  const defined = {
    format: feed.format,
    address: feed.address,
    licence: feed.licence,
    interval_ms: feed.intervalMs,
    products,
    covers: JSON.stringify(feed.covers ?? []),
    origin,
    // What it said about other products counts from now on, or counts no more.
    ...(before !== undefined && before.products !== products && { restate: randomUUID() }),
    // The removal ends with its next step, and what it has taken away comes back.
    ...(isGoing && { ...FETCH_ALL, delete_time: null, run: randomUUID() }),
  };
  call.wake("feeds");
  call.wake("matching");
  await call.tx
    .insertInto("feeds")
    .values({
      name: feed.name,
      run: "",
      etag: "",
      last_modified: "",
      records: 0,
      withdrawn: 0,
      problems: 0,
      error: isFetched ? "its first fetch has not ended" : "",
      ...(isFetched && { attempt_time: call.nowMs }),
      create_time: call.nowMs,
      restate: "",
      ...defined,
    })
    .onConflict((conflict) => conflict.column("name").doUpdateSet(defined))
    .execute();
}
