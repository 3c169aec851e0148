import { fromJsonString } from "@bufbuild/protobuf";
import { ScannerAdapterSchema } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { TAG_MOVES } from "@moorage/platform/events";
import { isWithin, parentOf } from "@moorage/kernel/lib/uid";
import { type Database, select, takeAdvisoryLock } from "@moorage/kernel/store";
import { imagesBehind } from "../images/images.ts";
import { marks } from "../marks.ts";
import { reportFor, SCAN_TYPES } from "./mime-types.ts";
import { addScan, type UsableScanner } from "./request.ts";
import { SCANNING } from "./rows.ts";

/** The name of the row of `matching` that says how far events were looked at. */
const NAME = "scans";

/** Moves of tags in one transaction, of which each may be about an index with many images, and events gone through. */
const MAX_MOVES = 50;
const MAX_EVENTS = 10_000;
const MAX_IMAGES = 200;

interface Scanner extends UsableScanner {
  parent: string;
  /** When it was made, in milliseconds since 1970: what tags came to point to before is scanned on request. */
  madeMs: number;
}

interface Move {
  seq: number;
  time: number;
  /** The uid of the tag. */
  tag: string;
  body: string;
}

/** Whether tags moved that were not looked at yet, and there are scanners that are to have them. */
export async function isAnyMoved(tx: Database): Promise<boolean> {
  const [row] = await select<{ known: number | null }>(
    tx,
    `select (select m.value from matching as m where m.name = '${NAME}') as known
     from scanners as c where c.disabled = 0 and c.on_request_only = 0 limit 1`,
    [],
  );
  return row !== undefined && (await newestEvent(tx)) > Number(row.known ?? -1);
}

/**
 * Has scanned what tags came to point to, by the events that say so: they have their numbers in the order in which they
 * became visible, so that nothing is missed, whenever it was committed. `more`: there may be further events.
 */
export const requestAutomaticScans = command(
  "security.requestAutomaticScans",
  async (call: Call, _input: Record<string, never>): Promise<{ more: boolean }> => {
    const { tx } = call;
    await takeAdvisoryLock(tx, "scans");
    const scanners = await automaticScanners(tx);
    const [first] = scanners;
    if (first === undefined) return { more: false };
    const known = await tx.selectFrom("matching").select("value").where("name", "=", NAME).executeTakeFirst();
    const after = known?.value ?? (await lastBefore(tx, Math.min(...scanners.map(({ madeMs }) => madeMs))));
    const newest = await newestEvent(tx);
    const to = Math.min(newest, after + MAX_EVENTS);
    const moves = await movesBetween(tx, after, to);
    for (const { tag, time, body } of moves) {
      const { digest } = JSON.parse(body) as { digest: string };
      const repo = parentOf(tag);
      const asked = scanners.filter(({ parent, madeMs }) => isWithin(repo, parent) && madeMs <= time);
      if (asked.length > 0) await request(call, repo, digest, asked);
    }
    const value = moves.length < MAX_MOVES ? to : (moves.at(-1)?.seq ?? to);
    await tx
      .insertInto("matching")
      .values({ name: NAME, value, position: "" })
      .onConflict((on) => on.column("name").doUpdateSet({ value }))
      .execute();
    return { more: value < newest };
  },
  SCANNING,
);

async function automaticScanners(tx: Database): Promise<Scanner[]> {
  const rows = await tx
    .selectFrom("scanners")
    .select(["uid", "parent", "name", "disabled", "adapter", "create_time as madeMs"])
    .where("disabled", "=", 0)
    .where("on_request_only", "=", 0)
    .execute();
  return rows.map(({ adapter, ...row }) => ({
    ...row,
    adapter: adapter === null ? { capabilities: [] } : fromJsonString(ScannerAdapterSchema, adapter),
  }));
}

/** The number of the last event before the time; 0 without one. */
async function lastBefore(tx: Database, timeMs: number): Promise<number> {
  const row = await tx
    .selectFrom("events")
    .select("seq")
    .where("time", "<", timeMs)
    .orderBy("time", "desc")
    .orderBy("seq", "desc")
    .limit(1)
    .executeTakeFirst();
  return Number(row?.seq ?? 0);
}

async function newestEvent(tx: Database): Promise<number> {
  const row = await tx.selectFrom("events").select("seq").orderBy("seq", "desc").limit(1).executeTakeFirst();
  return Number(row?.seq ?? 0);
}

async function movesBetween(tx: Database, after: number, to: number): Promise<Move[]> {
  const rows = await select<Move>(
    tx,
    `select seq, time, subject as tag, body from events where seq > ? and seq <= ? and type in (${marks(TAG_MOVES)})
     order by seq limit ${MAX_MOVES}`,
    [after, to, ...TAG_MOVES],
  );
  return rows.map((row) => ({ ...row, seq: Number(row.seq) }));
}

/** The configurations of images that have file systems. Source: OCI image-spec; Docker image manifest V2 schema 2. */
const IMAGES = ["application/vnd.oci.image.config.v1+json", "application/vnd.docker.container.image.v1+json"];

async function request(call: Call, repo: string, digest: string, scanners: readonly Scanner[]): Promise<void> {
  const digests = (await imagesBehind(call.tx, repo, digest)).slice(0, MAX_IMAGES + 1);
  const images = await call.tx
    .selectFrom("manifests")
    .select(["digest", "media_type"])
    .where("repo", "=", repo)
    .where("digest", "in", digests)
    .where("artifact_type", "in", IMAGES)
    .orderBy("digest")
    .execute();
  for (const image of images)
    for (const scanner of scanners)
      for (const type of SCAN_TYPES)
        if (reportFor(scanner.adapter, type, image.media_type) !== undefined)
          await addScan(call, { repo, digest: image.digest, type, scanner });
}
