import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { type RegistryPull, RegistryPullSchema } from "@moorage/api/messages";
import type { Actor, Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { civilTime } from "@moorage/kernel/lib/timestamps";
import { parentOf } from "@moorage/kernel/lib/uid";
import { uuidOf } from "@moorage/kernel/lib/uuid";
import { type Database, statement, takeAdvisoryLock } from "@moorage/kernel/store";
import { actorOf, appendRows, type OutboxRow } from "./outbox.ts";
import { bodyOf } from "./body.ts";
import { QUEUE } from "./queue-options.ts";

/** Pulls by one client from one repo, that differ only in their content and their time. */
export interface BufferedPulls extends Pick<RegistryPull, "repository" | "remoteAddress" | "userAgent"> {
  /** The repo's uid. */
  repo: string;
  type: "manifest" | "blob";
  method: "GET" | "HEAD";
  actor: Actor;
  contents: PulledContent[];
}

/** Content that was pulled. `tag`: empty when it was requested by digest. */
export interface PulledContent extends Pick<RegistryPull, "tag" | "digest"> {
  /** When each pull was answered, in milliseconds since 1970. */
  timesMs: number[];
}

/** How versions before pulls of one client were put together stored a content. */
type BufferedPull = Omit<BufferedPulls, "contents"> & PulledContent;

const TYPE = "registry.pull.v1";
const WHEN = '"when":"';
// Limits of the rows that wait, so that a server with more pulls than it can write as events does not fill its disk.
const MAX_BUFFERED = 2_000;
const MANY_BUFFERED = 1_000;

const insertBuffered = statement("insert into pull_notes (id, pulls) values (?, ?)");
const selectNth = statement("select 1 as one from pull_notes order by id limit 1 offset ?");
const selectOldest = statement<{ id: string; pulls: string }>("select id, pulls from pull_notes order by id limit 1");
const removeBuffered = statement("delete from pull_notes where id = ?");

/**
 * Stores pulls in one row, to be written as events later: writing the events takes a hundred times as long. `pulls`:
 * BufferedPulls as JSON, since a text is sent to the writer thread and stored as it is. `kept`: false when too many
 * rows wait already.
 */
export const keepPulls = command(
  "events.keepPulls",
  async ({ tx, nowMs }: Call, { pulls }: { pulls: string }): Promise<{ kept: boolean }> => {
    if ((await selectNth(tx, MAX_BUFFERED)).length > 0) return { kept: false };
    await insertBuffered(tx, `${String(nowMs).padStart(15, "0")}-${randomUUID()}`, pulls);
    return { kept: true };
  },
  QUEUE,
);

/**
 * What was written as events. `count`: the number of pulls; 0 when none were waiting. `isMany`: whether many more are
 * waiting.
 */
export interface PublishedPulls {
  count: number;
  isMany: boolean;
}

/** Writes the oldest row of pulls as events, one per pull, in the order of their times. */
export const notePulls = command(
  "events.notePulls",
  async ({ tx, wake }: Call, _request: Record<string, never>): Promise<PublishedPulls> => {
    await takeAdvisoryLock(tx, "pulls");
    const [oldest] = await selectOldest(tx);
    if (oldest === undefined) return { count: 0, isMany: false };
    // Only `keepPulls` writes this column, of this version or of an older one: before an upgrade, or beside it.
    const rows = (JSON.parse(oldest.pulls) as (BufferedPulls | BufferedPull)[]).flatMap((pulls) =>
      rowsOf("contents" in pulls ? pulls : together(pulls)),
    );
    await appendRows(
      tx,
      rows.sort((one, other) => one.timeMs - other.timeMs),
    );
    wake("deliveries");
    await removeBuffered(tx, oldest.id);
    return { count: rows.length, isMany: (await selectNth(tx, MANY_BUFFERED)).length > 0 };
  },
  QUEUE,
);

/** Whether there are pulls that have no event yet. */
export async function hasBufferedPulls(db: Database): Promise<boolean> {
  return (await selectNth(db, 0)).length > 0;
}

function together({ tag, digest, timesMs, ...pulls }: BufferedPull): BufferedPulls {
  return { ...pulls, contents: [{ tag, digest, timesMs }] };
}

function rowsOf({ repo, actor, contents, ...pulls }: BufferedPulls): OutboxRow[] {
  const row = { type: TYPE, subject: repo, group: parentOf(repo), target: "", actor: actorOf(actor) };
  return contents.flatMap(({ timesMs: [firstMs, ...otherMs], ...content }) => {
    if (firstMs === undefined) return [];
    const body = bodyOf(
      RegistryPullSchema,
      create(RegistryPullSchema, { ...pulls, ...content, repoId: repo, when: civilTime(firstMs) }),
    );
    // Quotation marks inside JSON strings are escaped, so the first match is this field. All times have the same
    // length.
    const at = body.indexOf(WHEN) + WHEN.length;
    const [head, tail] = [body.slice(0, at), body.slice(body.indexOf('"', at))];
    const rowAt = (timeMs: number): OutboxRow => ({
      ...row,
      id: uuidOf(timeMs),
      timeMs,
      body: head + civilTime(timeMs) + tail,
    });
    return [{ ...row, id: uuidOf(firstMs), timeMs: firstMs, body }, ...otherMs.map(rowAt)];
  });
}
