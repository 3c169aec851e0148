import { SyncState } from "@moorage/api";
import type { StoredBlob } from "../blobs/index.ts";
import { audit } from "../audit/index.ts";
import type { Call } from "../core/call.ts";
import { Code, MoorageError } from "../errors.ts";
import { moveTag } from "../registry/index.ts";
import {
  keepBlob,
  missingReferences,
  type Reference,
  storeManifest,
  type StoredManifest,
  emitCopy,
} from "../oci/index.ts";
import { command } from "../core/command.ts";

// What copies images from elsewhere writes by these: the system acts, and asks for nobody's rights.

/**
 * For whom something is copied. It holds while the repo's source stays as it was read, and for a turn while that turn
 * holds the repo.
 */
export interface MirrorPlace {
  repo: string;
  /** The repo's `sync_config`, to the letter. */
  sync: string;
  /** The turn that copies. Absent: somebody pulled. */
  holder?: string;
}

/** A repo whose turn it is. */
export interface DueMirror {
  repo: string;
  sync: string;
  /** Sealed, or empty. */
  password: string;
  failures: number;
  /** How long it has been due, in milliseconds. */
  lateMs: number;
}

/** How a turn ended. */
export interface TurnEnd {
  repo: string;
  holder: string;
  state: SyncState;
  /** For the operator; empty when nothing went wrong. */
  message: string;
  /** When the next turn is due. A turn asked for in the meantime is due before that. */
  nextInMs: number;
  /** Absent: as many as before. */
  tagsSeen?: number | undefined;
}

/** Takes the repo that has been due for the longest, and holds it for so long. Undefined: nothing is due. */
export const claimMirror = command(
  "mirroring.claimMirror",
  async (call: Call, { holder, holdMs }: { holder: string; holdMs: number }): Promise<DueMirror | undefined> => {
    const due = await call.tx
      .selectFrom("mirrors as m")
      .innerJoin("repos as r", "r.uid", "m.repo")
      .select(["m.repo", "m.password", "m.failures", "m.next_time", "r.sync_config"])
      .where("m.next_time", "<=", call.nowMs)
      .where("m.hold_until", "<=", call.nowMs)
      .orderBy("m.next_time")
      .limit(1)
      .executeTakeFirst();
    if (due === undefined) return undefined;
    const values = { holder, hold_until: call.nowMs + holdMs, state: SyncState.RUNNING, attempt_time: call.nowMs };
    await call.tx.updateTable("mirrors").set(values).where("repo", "=", due.repo).execute();
    return {
      repo: due.repo,
      sync: due.sync_config ?? "",
      password: due.password,
      failures: due.failures,
      lateMs: call.nowMs - due.next_time,
    };
  },
);

/** Holds the repo for longer. False: the turn has lost it, and must end. */
export const holdMirror = command(
  "mirroring.holdMirror",
  async (
    call: Call,
    { repo, holder, holdMs }: { repo: string; holder: string; holdMs: number },
  ): Promise<{ held: boolean }> => {
    const { numUpdatedRows } = await call.tx
      .updateTable("mirrors")
      .set({ hold_until: call.nowMs + holdMs })
      .where("repo", "=", repo)
      .where("holder", "=", holder)
      .executeTakeFirst();
    return { held: numUpdatedRows > 0n };
  },
);

/** Notes how a turn ended and lets go of the repo. Nothing happens when the turn has lost it. */
export const endTurn = command(
  "mirroring.endTurn",
  async (call: Call, { repo, holder, state, message, nextInMs, tagsSeen }: TurnEnd): Promise<void> => {
    const row = await call.tx
      .selectFrom("mirrors")
      .select(["next_time", "attempt_time", "success_time", "failures", "tags_seen"])
      .where("repo", "=", repo)
      .where("holder", "=", holder)
      .executeTakeFirst();
    if (row === undefined) return;
    const succeeded = state === SyncState.SUCCEEDED;
    const failed = state === SyncState.FAILED || state === SyncState.RATE_LIMITED;
    // It was due when the turn began: a later time is that of somebody's wish since then.
    const wished = row.attempt_time !== null && row.next_time > row.attempt_time;
    await call.tx
      .updateTable("mirrors")
      .set({
        holder: "",
        hold_until: 0,
        state,
        message,
        tags_seen: tagsSeen ?? row.tags_seen,
        next_time: wished ? row.next_time : call.nowMs + nextInMs,
        success_time: succeeded ? call.nowMs : row.success_time,
        failures: failed ? row.failures + 1 : succeeded ? 0 : row.failures,
      })
      .where("repo", "=", repo)
      .execute();
  },
);

/**
 * What of the references the repo does not hold; what it holds is kept from the garbage collector for its grace time
 * once more.
 */
export const touchReferences = command(
  "mirroring.touchReferences",
  async (
    call: Call,
    { references, ...place }: MirrorPlace & { references: Reference[] },
  ): Promise<{ missing: string[] }> => {
    await requirePlace(call, place);
    const missing = await missingReferences(call, place.repo, { references });
    for (const kind of ["blob", "manifest"] as const) {
      const held = references
        .filter((reference) => reference.kind === kind && !missing.includes(reference.digest))
        .map(({ digest }) => digest);
      for (let at = 0; at < held.length; at += CHUNK) {
        await call.tx
          .updateTable(kind === "blob" ? "repo_blobs" : "manifests")
          .set({ touch_time: call.nowMs })
          .where("repo", "=", place.repo)
          .where("digest", "in", held.slice(at, at + CHUNK))
          .execute();
      }
    }
    return { missing };
  },
);

/** Makes a blob that was copied the repo's. Answers the generation to keep. */
export const keepCopiedBlob = command(
  "mirroring.keepCopiedBlob",
  async (call: Call, { blob, ...place }: MirrorPlace & { blob: StoredBlob }): Promise<{ generation: string }> => {
    await requirePlace(call, place);
    await count(call, place, { manifests: 0, bytes: blob.size });
    await emitCopy(call, { repo: place.repo, digest: blob.digest, type: "blob" });
    return keepBlob(call, place.repo, blob);
  },
);

/**
 * Stores a manifest that was copied. `missing`: what it refers to and the repo does not hold; nothing is stored then.
 */
export const storeCopiedManifest = command(
  "mirroring.storeCopiedManifest",
  async (
    call: Call,
    { stored, ...place }: MirrorPlace & { stored: StoredManifest },
  ): Promise<{ missing: string[] }> => {
    await requirePlace(call, place);
    const { missing, isNew } = await storeManifest(call, place.repo, stored);
    if (isNew) {
      await count(call, place, { manifests: 1, bytes: 0 });
      await emitCopy(call, { repo: place.repo, digest: stored.digest, type: "manifest" });
    }
    return { missing };
  },
);

/** A tag, what its source has it point to, and what it was found to point to here. */
export interface FollowedTag extends MirrorPlace {
  tag: string;
  digest: string;
  before: string;
}

/**
 * Has a tag follow its source, unless somebody moved it since it was found to point to `before` (empty: it was not
 * there): then the next turn looks again. `gone`: the repo no longer holds the digest. Throws FAILED_PRECONDITION where
 * the repo's policy keeps the tag as it is.
 */
export const followTag = command(
  "mirroring.followTag",
  async (call: Call, { tag, digest, before, ...place }: FollowedTag): Promise<{ gone: boolean }> => {
    await requirePlace(call, place);
    const { repo } = place;
    const held = await call.tx
      .selectFrom("manifests")
      .select("digest")
      .where("repo", "=", repo)
      .where("digest", "=", digest)
      .executeTakeFirst();
    if (held === undefined) return { gone: true };
    const now = await call.tx
      .selectFrom("tags")
      .select("digest")
      .where("parent", "=", repo)
      .where("name", "=", tag)
      .executeTakeFirst();
    if ((now?.digest ?? "") !== before) return { gone: false };
    const { uid, moved } = await moveTag(call, { repo, name: tag, digest, reason: "mirror" });
    if (moved)
      await audit(call, {
        method: "registry.mirror.tag",
        resource: uid,
        isSystem: true,
        details: { name: tag, digest },
      });
    return { gone: false };
  },
);

/** Throws ABORTED when the place is no longer what it was. */
async function requirePlace(call: Call, { repo, sync, holder }: MirrorPlace): Promise<void> {
  const found = await call.tx
    .selectFrom("mirrors as m")
    .innerJoin("repos as r", "r.uid", "m.repo")
    .select(["m.holder", "r.sync_config"])
    .where("m.repo", "=", repo)
    .executeTakeFirst();
  if (found?.sync_config === sync && (holder === undefined || found.holder === holder)) return;
  throw new MoorageError(Code.Aborted, "Aborted: the repo is not copied from there, or by somebody else");
}

async function count(
  call: Call,
  { repo }: MirrorPlace,
  { manifests, bytes }: { manifests: number; bytes: number },
): Promise<void> {
  await call.tx
    .updateTable("mirrors")
    .set((eb) => ({
      manifests_copied: eb("manifests_copied", "+", manifests),
      bytes_copied: eb("bytes_copied", "+", bytes),
    }))
    .where("repo", "=", repo)
    .execute();
}

// Statements stay below every engine's limit of parameters.
const CHUNK = 500;

/** All that mirroring writes. */
export const mirrorCommands = [
  claimMirror,
  endTurn,
  followTag,
  holdMirror,
  keepCopiedBlob,
  storeCopiedManifest,
  touchReferences,
] as const;
