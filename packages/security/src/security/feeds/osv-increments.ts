import path from "node:path";
import { forEachConcurrently } from "@moorage/kernel/lib/for-each-concurrently";
import type { StreamClient } from "@moorage/kernel/lib/stream-client";
import { asSourceError, requestFeed, saveBody } from "./download.ts";
import { numberedLines } from "./lines.ts";

/** Records that changed since the newest that a feed has, in files of a folder. */
export interface Increments {
  /** How many. */
  records: number;
  /** The newest `modified` among them, in milliseconds since 1970. */
  newest: number;
}

// With more than these, the archive of all of them is smaller work for both sides.
const MAX_INCREMENTS = 2_000;
const MAX_RECORD_BYTES = 16 << 20;
const MAX_LINE_BYTES = 1_000;
const CONCURRENCY = 4;

/** Whether the address is one beside which OSV has `modified_id.csv` and each record by itself. */
export const hasIncrements = (address: string): boolean => address.endsWith("/all.zip");

/**
 * Fetches the records that changed since `newest` into the folder, as `modified_id.csv` beside the archive lists them,
 * newest first. Undefined when there is no such list, it is empty, or too many changed. Source:
 * https://google.github.io/osv.dev/data/#downloading-recent-changes.
 */
export async function fetchIncrements(
  client: StreamClient,
  { address, newest, folder, signal }: { address: string; newest: number; folder: string; signal: AbortSignal },
): Promise<Increments | undefined> {
  const base = address.slice(0, -"all.zip".length);
  const changed = await changedSince(client, `${base}modified_id.csv`, newest, signal);
  if (changed === undefined) return undefined;
  let records = 0;
  await forEachConcurrently(changed.ids, CONCURRENCY, async (id) => {
    const url = `${base}${id.split("/").map(encodeURIComponent).join("/")}.json`;
    // What is gone meanwhile is found by the next archive.
    const answer = await requestFeed(client, url, { signal, orNothing: true });
    if (answer === undefined) return;
    records += 1;
    await saveBody(answer, path.join(folder, `${records}.json`), url, MAX_RECORD_BYTES);
  });
  return { records, newest: changed.newest };
}

async function changedSince(
  client: StreamClient,
  url: string,
  newest: number,
  signal: AbortSignal,
): Promise<{ ids: string[]; newest: number } | undefined> {
  const answer = await requestFeed(client, url, { signal, orNothing: true });
  if (answer === undefined) return undefined;
  const ids: string[] = [];
  let latest = newest;
  let isEmpty = true;
  try {
    for await (const { text } of numberedLines(answer.body, MAX_LINE_BYTES)) {
      const [time = "", id = ""] = text?.split(",") ?? [];
      const ms = Date.parse(time);
      isEmpty = false;
      if (Number.isNaN(ms) || !/^[^\p{C}\s]{1,256}$/u.test(id)) return undefined;
      // Times are cut to milliseconds here: what changed in the same one is fetched again.
      if (ms < newest) break;
      if (ids.push(id) > MAX_INCREMENTS) return undefined;
      latest = Math.max(latest, ms);
    }
  } catch (error) {
    throw asSourceError(error, url);
  } finally {
    answer.discard();
  }
  // The list has every record there is: one with none says nothing about what has changed.
  return isEmpty ? undefined : { ids, newest: latest };
}
