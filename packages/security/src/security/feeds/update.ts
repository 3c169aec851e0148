import path from "node:path";
import { systemCall } from "@moorage/kernel/core/system-call";
import type { StreamClient } from "@moorage/kernel/lib/stream-client";
import { makeTempFolder } from "@moorage/kernel/lib/temp-folders";
import type { Row } from "@moorage/kernel/store";
import { noteAttempt } from "./commands.ts";
import { type DownloadRules, openDownloads, requestFeed, saveBody, validatorsOf } from "./download.ts";
import type { FeedFormat } from "../records/formats.ts";
import { type FeedDeps, type Imported, importFeed, type ImportOptions, type ImportSource } from "./import.ts";
import { fetchIncrements, hasIncrements } from "./osv-increments.ts";
import { SourceError } from "../records/record.ts";
import { fileSource } from "./source.ts";

export interface UpdateOptions extends ImportOptions, DownloadRules {
  signal: AbortSignal;
}

// How long one feed's download may take in all.
const TIMEOUT_MS = 3_600_000;
// Increments do not say what is gone: a whole archive is fetched this often.
const FULL_EVERY_MS = 7 * 86_400_000;

/**
 * Fetches a feed from its address and imports it, of OSV only what changed, if that can be had. Undefined when the
 * source has not changed. A failure is noted at the feed. Throws a SourceError, or what importFeed throws.
 */
export async function updateFeed(
  deps: FeedDeps,
  feed: Row<"feeds">,
  options: UpdateOptions,
): Promise<Imported | undefined> {
  const temp = makeTempFolder("feed");
  const client = openDownloads(options);
  try {
    const signal = AbortSignal.any([options.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const source = await noted(deps, feed.name, () => fetchSource(deps, feed, { client, folder: temp.path, signal }));
    if (!("read" in source)) {
      await note(deps, feed.name, "", source.isFull);
      return undefined;
    }
    return await importFeed(deps, feed.name, source, options);
  } finally {
    await client.close();
    await temp.remove();
  }
}

/** That the source has not changed: a part of it was asked for, or all. */
interface Unchanged {
  isFull: boolean;
}

interface Fetching {
  client: StreamClient;
  folder: string;
  signal: AbortSignal;
}

async function fetchSource(
  { clock }: FeedDeps,
  feed: Row<"feeds">,
  fetching: Fetching,
): Promise<ImportSource | Unchanged> {
  const { address, newest, full_time: fullMs } = feed;
  const format = feed.format as FeedFormat;
  const { client, folder, signal } = fetching;
  const isFullDue = fullMs === null || clock.nowMs() - fullMs > FULL_EVERY_MS;
  if (format === "osv" && hasIncrements(address) && newest !== null && !isFullDue) {
    const increments = await fetchIncrements(client, { address, newest, folder, signal });
    if (increments?.records === 0) return { isFull: false };
    if (increments !== undefined) return { ...(await fileSource(format, folder, true)), newest: increments.newest };
  }
  const since = { etag: feed.etag, lastModified: feed.last_modified };
  const answer = await requestFeed(client, address, { signal, since });
  if (answer === undefined) return { isFull: true };
  const name = path.posix.basename(new URL(address).pathname).replaceAll(/[^\w.-]/g, "_");
  const file = path.join(folder, /^\w/.test(name) ? name.slice(-100) : "feed.json");
  await saveBody(answer, file, address);
  return { ...(await fileSource(format, file)), ...validatorsOf(answer) };
}

async function noted<T>(deps: FeedDeps, feed: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SourceError) await note(deps, feed, error.message);
    throw error;
  }
}

async function note({ transactor, clock }: FeedDeps, feed: string, error: string, isFull = false): Promise<void> {
  await transactor.write(noteAttempt, systemCall(clock.nowMs()), { feed, error: error.slice(0, 500), isFull });
}
