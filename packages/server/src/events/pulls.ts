import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { type RegistryPull, RegistryPullSchema } from "@moorage/api";
import { timestamp } from "../lib/timestamps.ts";
import { parentOf } from "../lib/uid.ts";
import type { Actor, Call } from "../core/call.ts";
import { type Database, statement, takeAdvisoryLock } from "../store/index.ts";
import { actorOf, appendRows, type OutboxRow } from "./outbox.ts";
import { bodyOf } from "./body.ts";
import { command } from "../core/command.ts";
import { QUEUE } from "./queue-options.ts";

/** Pulls that are alike in all but their time. */
export interface BufferedPull extends Pick<
  RegistryPull,
  "repository" | "tag" | "digest" | "remoteAddress" | "userAgent"
> {
  /** The repo's uid. */
  repo: string;
  type: "manifest" | "blob";
  method: "GET" | "HEAD";
  actor: Actor;
  /** When each was answered, in milliseconds since 1970. */
  timesMs: number[];
}

const TYPE = "registry.pull.v1";
const WHEN = '"when":"';
// A server that is asked for more than it can tell of, for hours, is not to fill its disk with it.
const MOST_KEPT = 2_000;
const MANY_KEPT = 1_000;

const insertKept = statement("insert into pull_notes (id, pulls) values (?, ?)");
const selectNth = statement("select 1 as one from pull_notes order by id limit 1 offset ?");
const selectOldest = statement<{ id: string; pulls: string }>("select id, pulls from pull_notes order by id limit 1");
const removeKept = statement("delete from pull_notes where id = ?");

/**
 * Keeps pulls to be told of, as they came: to make events of them costs a hundred times as much, and has time. `kept`:
 * false when too many wait already.
 */
export const keepPulls = command(
  "events.keepPulls",
  async ({ tx, nowMs }: Call, { pulls }: { pulls: readonly BufferedPull[] }): Promise<{ kept: boolean }> => {
    if ((await selectNth(tx, MOST_KEPT)).length > 0) return { kept: false };
    await insertKept(tx, `${String(nowMs).padStart(15, "0")}-${randomUUID()}`, JSON.stringify(pulls));
    return { kept: true };
  },
  QUEUE,
);

/** What was told of. `count`: how many pulls; 0: none were kept. `isMany`: very many are kept still. */
export interface PublishedPulls {
  count: number;
  isMany: boolean;
}

/** Tells of the pulls that were kept together first, each by an event of its own, in the order of their times. */
export const notePulls = command(
  "events.notePulls",
  async ({ tx }: Call, _request: Record<string, never>): Promise<PublishedPulls> => {
    await takeAdvisoryLock(tx, "pulls");
    const [oldest] = await selectOldest(tx);
    if (oldest === undefined) return { count: 0, isMany: false };
    // Only `keepPulls` writes there.
    const rows = (JSON.parse(oldest.pulls) as BufferedPull[]).flatMap(rowsOf);
    await appendRows(
      tx,
      rows.sort((one, other) => one.timeMs - other.timeMs),
    );
    await removeKept(tx, oldest.id);
    return { count: rows.length, isMany: (await selectNth(tx, MANY_KEPT)).length > 0 };
  },
  { ...QUEUE, wakesDelivery: true },
);

/** Whether pulls are kept that no event tells of yet. */
export async function hasBufferedPulls(db: Database): Promise<boolean> {
  return (await selectNth(db, 0)).length > 0;
}

function rowsOf({ repo, actor, timesMs: [firstMs, ...otherMs], ...told }: BufferedPull): OutboxRow[] {
  if (firstMs === undefined) return [];
  const row = { type: TYPE, subject: repo, group: parentOf(repo), target: "", actor: actorOf(actor) };
  const body = bodyOf(
    RegistryPullSchema,
    create(RegistryPullSchema, { ...told, repoId: repo, when: timestamp(firstMs) }),
  );
  // A quotation mark within a text has a backslash before it: this is the field. All its times are of one length.
  const at = body.indexOf(WHEN) + WHEN.length;
  const [head, tail] = [body.slice(0, at), body.slice(body.indexOf('"', at))];
  const rowAt = (timeMs: number): OutboxRow => ({
    ...row,
    id: randomUUID(),
    timeMs,
    body: head + new Date(timeMs).toISOString() + tail,
  });
  return [{ ...row, id: randomUUID(), timeMs: firstMs, body }, ...otherMs.map(rowAt)];
}
