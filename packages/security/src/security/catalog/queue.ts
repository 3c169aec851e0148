import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { type Database, takeAdvisoryLock } from "@moorage/kernel/store";
import { leaseOn, queueOn } from "@moorage/kernel/work";
import { sql } from "kysely";
import { noteImageChange } from "../causes/image-cause.ts";
import { countArchivesAgain, deleteArchives, identified, insertArchives, withArchives } from "./archives.ts";
import { CATALOGING } from "./command-options.ts";
import type { Catalog, Component, NotRead } from "./types.ts";
import { READERS_VERSION } from "./readers-version.ts";
import { deletePackages } from "./remove.ts";
import { giveRelease } from "./releases.ts";
import { CATALOG_STATE, insertPackages, LAYERS, LAYERS_AGAIN } from "./rows.ts";

/** How often an image is attempted, before it is left as failed. */
export const MAX_ATTEMPTS = 3;

/** How long a process that died keeps an image; a live one renews its hold in time. In milliseconds. */
export const HOLD_MS = 30_000;

/** After an attempt that may end otherwise another time, in milliseconds for each attempt so far. */
const RETRY_AFTER_MS = 60_000;
const RETRY_SOON_MS = 10_000;
const CHUNK = 500;

const IMAGES = { table: "image_catalogs", key: ["digest"], holdMs: HOLD_MS } as const;

/** The images that wait to be read the first time. */
const WAITING = queueOn({
  ...IMAGES,
  open: `state = ${CATALOG_STATE.waiting}`,
  states: CATALOG_STATE,
  ended: ({ nowMs }) => ({ finish_time: nowMs }),
  // What an attempt has written is of no use. For commands that have locked the catalogs.
  failed: (call, { digest }) => deleteAllPackages(call, digest, LAYERS),
});

/** Those that are read again, of which what was read stays. */
const DONE = leaseOn({ ...IMAGES, open: `state = ${CATALOG_STATE.done}` });

/** Both. */
const READ = leaseOn({ ...IMAGES, open: `state in (${CATALOG_STATE.waiting}, ${CATALOG_STATE.done})` });

/** The bytes of a layer in the blob store. */
export interface StoredLayer {
  digest: string;
  generation: string;
  size: number;
}

/** What to read. `layers` from the lowest; undefined when the image cannot be read, for `reason`. */
export interface Claimed {
  digest: string;
  layers?: StoredLayer[];
  reason?: string;
}

interface Manifest {
  layers?: { digest: string; mediaType: string }[];
}

/** Layers of file systems. Source: OCI image-spec, layer.md; Docker image manifest V2 schema 2. */
const FILE_SYSTEM = /^application\/vnd\.(?:oci\.image\.layer\.|docker\.image\.rootfs\.)/;

/** Whether a layer of this type is a file system. */
export function isFileSystem(mediaType: string): boolean {
  return FILE_SYSTEM.test(mediaType);
}

/**
 * Takes the image that has waited longest, fresh ones before the backlog, for HOLD_MS of the agreed time: of those that
 * were not attempted yet, or of those that were. `claimed` is
 * undefined when none waits, and when `again` says to ask again. `unused`: an image that no repo holds any longer, for
 * removeCatalog. An image that was attempted too often has failed.
 */
export const claimCatalog = command(
  "security.claimCatalog",
  async (
    call: Call,
    { holder, isAgain }: { holder: string; isAgain: boolean },
  ): Promise<{ claimed?: Claimed; again?: boolean; unused?: string }> => {
    await takeAdvisoryLock(call.tx, "catalogs");
    const row = await call.tx
      .selectFrom("image_catalogs")
      .select(["digest", "attempts", "reason"])
      .where("state", "=", CATALOG_STATE.waiting)
      .where("hold_until", "<=", call.agreedMs)
      .where("attempts", isAgain ? ">" : "=", 0)
      .orderBy("backlog")
      .orderBy("create_time")
      .orderBy("digest")
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) return {};
    const { digest } = row;
    const manifest = await manifestOf(call, digest);
    if (manifest === undefined) return { again: true, unused: digest };
    const reason = "the server ended each time while it read the image";
    // Its last holder may have renewed its lease since, which needs no lock of all catalogs.
    const outcome = await WAITING.claim(call, row, { holder, maxAttempts: MAX_ATTEMPTS, reason });
    if (outcome !== "held") return { again: true };
    return { claimed: { digest, ...(await layersOf(call, manifest)) } };
  },
  CATALOGING,
);

/**
 * Takes an image that was read by earlier readers than those of this program, the oldest first, to be read again. What
 * was read of it stays until there is something in its place. `claimed` is undefined when there is none, and when
 * `again` says to ask again.
 */
export const claimOutdated = command(
  "security.claimOutdated",
  async (call: Call, { holder }: { holder: string }): Promise<{ claimed?: Claimed; again?: boolean }> => {
    await takeAdvisoryLock(call.tx, "catalogs");
    const row = await outdated(call.tx)
      .select(["digest", "rereads"])
      .where("hold_until", "<=", call.agreedMs)
      .orderBy("readers")
      .orderBy("create_time")
      .orderBy("digest")
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) return {};
    const { digest, rereads } = row;
    const manifest = await manifestOf(call, digest);
    // What no repo holds any longer goes by itself.
    const set = { rereads: manifest === undefined ? MAX_ATTEMPTS : rereads + 1 };
    if (!(await DONE.take(call, { digest, holder }, set)) || manifest === undefined) return { again: true };
    return { claimed: { digest, ...(await layersOf(call, manifest)) } };
  },
  CATALOGING,
);

/** The images that were read by earlier readers, and not yet in vain by those of this program. */
export function outdated(db: Database) {
  return (
    db
      .selectFrom("image_catalogs")
      // As its index has it.
      .where("state", "=", sql.lit(CATALOG_STATE.done))
      .where("readers", "<", READERS_VERSION)
      .where("rereads", "<", MAX_ATTEMPTS)
  );
}

async function manifestOf({ tx }: Call, digest: string): Promise<Manifest | undefined> {
  const row = await tx
    .selectFrom("manifests")
    .select("content")
    .where("digest", "=", digest)
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? undefined : (JSON.parse(Buffer.from(row.content).toString()) as Manifest);
}

async function layersOf(call: Call, { layers = [] }: Manifest): Promise<Omit<Claimed, "digest">> {
  const other = layers.find(({ mediaType }) => !isFileSystem(mediaType));
  if (other !== undefined) return { reason: `it is no image with file systems: ${other.mediaType}` };
  const stored = new Map<string, StoredLayer>();
  const digests = [...new Set(layers.map(({ digest }) => digest))];
  for (let at = 0; at < digests.length; at += CHUNK)
    for (const row of await call.tx
      .selectFrom("blobs")
      .select(["digest", "generation", "size"])
      .where("digest", "in", digests.slice(at, at + CHUNK))
      .execute())
      stored.set(row.digest, row);
  const found = layers.flatMap(({ digest }) => stored.get(digest) ?? []);
  return found.length < layers.length ? { reason: "a layer of it is not stored here" } : { layers: found };
}

/** Goes on holding the image. Answers false when another process has taken it. */
export const renewCatalog = command(
  "security.renewCatalog",
  async (call: Call, { digest, holder }: { digest: string; holder: string }): Promise<{ held: boolean }> => ({
    held: (await READ.renew(call, { digest, holder }, ["state"])) !== undefined,
  }),
  CATALOGING,
);

/** What is written of an image at a time. */
export interface CatalogPart {
  digest: string;
  holder: string;
  /** The number of the first of the components. */
  from: number;
  components: Component[];
  /** With the last part: what else was read. */
  end?: Pick<Catalog, "os" | "unread">;
}

/**
 * Writes packages from the number `from` on, with the first of them in place of what an earlier attempt wrote. They are
 * not seen before the last part. Answers false when another process has taken the image.
 */
export const writeCatalogPart = command(
  "security.writeCatalogPart",
  async (call: Call, { digest, holder, from, components, end }: CatalogPart): Promise<{ held: boolean }> => {
    await takeAdvisoryLock(call.tx, "catalogs");
    const row = await READ.renew(call, { digest, holder }, ["state"]);
    if (row === undefined) return { held: false };
    const source = row.state === CATALOG_STATE.done ? LAYERS_AGAIN : LAYERS;
    if (from === 0) await deleteAllPackages(call, digest, source);
    const part = { digest, source, from, components: await identified(call.tx, components) };
    await insertPackages(call.tx, part);
    await insertArchives(call.tx, part);
    if (end === undefined) return { held: true };
    if (source === LAYERS_AGAIN) await replacePackages(call, digest);
    await finish(call, digest, end);
    return { held: true };
  },
  // No pull, token or library depends on what images hold.
  { ...CATALOGING, changes: () => [] },
);

/** What was found again counts from now on. Packages that are in both stay, with all that is known of them. */
async function replacePackages(call: Call, digest: string): Promise<void> {
  const { tx } = call;
  await deleteAllPackages(call, digest, LAYERS);
  await tx
    .updateTable("image_packages")
    .set({ source: LAYERS })
    .where("digest", "=", digest)
    .where("source", "=", LAYERS_AGAIN)
    .execute();
  await countArchivesAgain(tx, digest);
}

/** The image has been read. */
async function finish(call: Call, digest: string, { os, unread }: Pick<Catalog, "os" | "unread">): Promise<void> {
  const some = await call.tx
    .selectFrom("image_packages")
    .select("n")
    .where("digest", "=", digest)
    .where("source", "=", LAYERS)
    .limit(1)
    .executeTakeFirst();
  const isIncomplete = some === undefined || unread.some(({ kind }) => kind === undefined);
  await WAITING.finish(
    call,
    { digest },
    {
      os_id: os?.id ?? "",
      os_version: os?.versionId ?? "",
      os_name: os?.prettyName ?? "",
      unread: JSON.stringify(await withArchives(call.tx, digest, unread)),
      readers: READERS_VERSION,
      rereads: 0,
      incomplete: isIncomplete ? 1 : 0,
    },
  );
  if (os !== undefined) await giveRelease(call.tx, digest);
  await noteImageChange(call, digest);
}

/**
 * The image could not be read. `isFinal`: it would fail again. Otherwise it waits for another attempt, up to
 * MAX_ATTEMPTS. What earlier readers found in it stays.
 */
export const failCatalog = command(
  "security.failCatalog",
  async (
    call: Call,
    { digest, holder, reason, isFinal, isSoon = false }: { digest: string; holder: string } & NotRead,
  ): Promise<void> => {
    await takeAdvisoryLock(call.tx, "catalogs");
    const row = await DONE.renew(call, { digest, holder }, ["rereads"]);
    if (row === undefined) {
      const delayOf = retryDelay({ isFinal, isSoon });
      await WAITING.failAttempt(call, { digest, holder }, { reason, delayOf });
      return;
    }
    await deleteAllPackages(call, digest, LAYERS_AGAIN);
    const rereads = isFinal ? MAX_ATTEMPTS : row.rereads;
    await DONE.end(call, { digest }, { rereads, hold_until: call.agreedMs + rereads * retryAfterMs(isSoon) });
  },
  CATALOGING,
);

/** How long the next attempt waits, for each attempt so far. */
export function retryAfterMs(isSoon: boolean): number {
  return isSoon ? RETRY_SOON_MS : RETRY_AFTER_MS;
}

/** How long the next attempt waits after so many, in milliseconds; undefined when there is none. */
export function retryDelay({ isFinal, isSoon }: { isFinal: boolean; isSoon: boolean }) {
  return (attempts: number): number | undefined =>
    isFinal || attempts >= MAX_ATTEMPTS ? undefined : attempts * retryAfterMs(isSoon);
}

/** Nobody reads the image any longer, since the process shuts down; the attempt does not count. */
export const releaseCatalog = command(
  "security.releaseCatalog",
  async (call: Call, { digest, holder }: { digest: string; holder: string }): Promise<void> => {
    const row = await DONE.renew(call, { digest, holder }, ["rereads"]);
    if (row === undefined) await WAITING.release(call, { digest, holder });
    else await DONE.end(call, { digest }, { rereads: row.rereads - 1 });
  },
  CATALOGING,
);

async function deleteAllPackages({ tx }: Call, digest: string, source: string): Promise<void> {
  await deleteArchives(tx, digest, source);
  while (!(await deletePackages(tx, digest, source)));
}
