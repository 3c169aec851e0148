import { SyncState } from "@moorage/api/messages";
import { audit } from "@moorage/kernel/audit";
import type { StoredBlob } from "@moorage/kernel/blobs";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { Code, failedPrecondition, MoorageError } from "@moorage/kernel/errors";
import { statement } from "@moorage/kernel/store";
import { leaseOn } from "@moorage/kernel/work";
import { judgeSignedCopy } from "../trust/index.ts";
import {
  addPastMoves,
  addRoundTrip,
  type LocalMirror,
  localSourceOf,
  moveTag,
  type PastMove,
  syncSettings,
} from "../registry/index.ts";
import {
  allowsSparse,
  keepBlob,
  missingReferences,
  type Reference,
  storeManifest,
  type StoredManifest,
  emitCopy,
  touchContents,
} from "../oci/index.ts";
import { isOrigin, noteCheck } from "../upstreams/index.ts";
import { nextDue } from "./next-mirror.ts";
import { emitTurn, type RunEnd } from "./turn-events.ts";

// The commands by which mirroring writes. The server itself acts, so no capabilities are checked.

const selectLastReason = statement<{ reason: string }>(
  "select reason from tag_history where repo = ? and tag = ? order by time desc limit 1",
);

/** How long the repos of a process that died stay held, in milliseconds. */
export const HOLD_MS = 60_000;
const MIRRORS = leaseOn({ table: "mirrors", key: ["repo"], holdMs: HOLD_MS });

/**
 * The repo that content is copied to. A command with it throws ABORTED when the repo's source has changed since it was
 * read or, in a run, when the run no longer holds the repo.
 */
export interface MirrorPlace {
  repo: string;
  /** The repo's `sync_config` as it was read, character for character. */
  sync: string;
  /** The id of the run that copies. Undefined when the content is pulled through. */
  holder?: string;
  /** The upstream that the repo came from, below a group that stands for a registry: then it has no `sync_config`. */
  upstream?: string;
}

/** A repo that is due to be copied. */
export interface DueMirror {
  repo: string;
  sync: string;
  /** The password of the source: sealed, or empty when there is none. */
  password: string;
  /** The identity that set the source. */
  actor: string;
  failures: number;
  /** When it was due, in milliseconds of the agreed time. */
  dueMs: number;
}

/** Claims the repo that is to be copied next, and holds it for `holdMs`. Undefined when none is due. */
export const claimMirror = command(
  "mirroring.claimMirror",
  async (
    call: Call,
    { holder, holdMs = HOLD_MS }: { holder: string; holdMs?: number },
  ): Promise<DueMirror | undefined> => {
    const next = await nextDue(call);
    if (next === undefined) return undefined;
    const due = await call.tx
      .selectFrom("mirrors as m")
      .innerJoin("repos as r", "r.uid", "m.repo")
      .select(["m.repo", "m.password", "m.actor", "m.failures", "m.next_time", "r.sync_config"])
      .where("m.repo", "=", next.repo)
      .executeTakeFirst();
    if (due === undefined) return undefined;
    const set = { state: SyncState.RUNNING, attempt_time: call.nowMs };
    if (!(await MIRRORS.take(call, { repo: due.repo, holder }, set, holdMs))) return undefined;
    return {
      repo: due.repo,
      sync: due.sync_config ?? "",
      password: due.password,
      actor: due.actor,
      failures: due.failures,
      dueMs: due.next_time,
    };
  },
);

/** Extends the hold on the repo. `held` is false when the run no longer holds it, and must end. */
export const holdMirror = command(
  "mirroring.holdMirror",
  async (
    call: Call,
    { repo, holder, holdMs = HOLD_MS }: { repo: string; holder: string; holdMs?: number },
  ): Promise<{ held: boolean }> => ({
    held: (await MIRRORS.renew(call, { repo, holder }, ["repo"], holdMs)) !== undefined,
  }),
);

/**
 * Records how a run ended and releases the repo; emits that it failed, or succeeded after failures. Does nothing when
 * the run no longer holds it.
 */
export const endRun = command("mirroring.endRun", async (call: Call, end: RunEnd): Promise<void> => {
  const { repo, holder, dueMs, state, message, nextInMs, tagsSeen } = end;
  const row = await MIRRORS.renew(call, { repo, holder }, ["next_time", "success_time", "failures", "tags_seen"]);
  if (row === undefined) return;
  const succeeded = state === SyncState.SUCCEEDED;
  const failed = state === SyncState.FAILED || state === SyncState.RATE_LIMITED;
  // Another time than that of the claim means that a run was requested since then.
  const isRequested = row.next_time !== dueMs;
  await MIRRORS.end(
    call,
    { repo },
    {
      state,
      message,
      tags_seen: tagsSeen ?? row.tags_seen,
      next_time: isRequested ? row.next_time : call.agreedMs + nextInMs,
      success_time: succeeded ? call.nowMs : row.success_time,
      failures: failed ? row.failures + 1 : succeeded ? 0 : row.failures,
    },
  );
  if (failed || (succeeded && row.failures > 0))
    await emitTurn(call, end, { tags: tagsSeen ?? row.tags_seen, failures: row.failures + (failed ? 1 : 0) });
});

/**
 * Finds the references that the repo lacks; `isSparse`: its policy accepts an index without the manifests that it
 * names. Renews the grace time of those that it holds, so that garbage collection leaves them.
 */
export const touchReferences = command(
  "mirroring.touchReferences",
  async (
    call: Call,
    { references, ...place }: MirrorPlace & { references: Reference[] },
  ): Promise<{ missing: string[]; isSparse: boolean }> => {
    await requirePlace(call, place);
    const missing = await missingReferences(call, place.repo, { references });
    for (const kind of ["blob", "manifest"] as const) {
      const held = references
        .filter((reference) => reference.kind === kind && !missing.includes(reference.digest))
        .map(({ digest }) => digest);
      await touchContents(call, place.repo, kind, held);
    }
    return { missing, isSparse: await allowsSparse(call, place.repo) };
  },
);

/** Links a copied blob to the repo. Returns the generation of the stored blob to keep. */
export const keepCopiedBlob = command(
  "mirroring.keepCopiedBlob",
  async (call: Call, { blob, ...place }: MirrorPlace & { blob: StoredBlob }): Promise<{ generation: string }> => {
    await requirePlace(call, place);
    await count(call, place, { manifests: 0, bytes: blob.size });
    await emitCopy(call, { repo: place.repo, digest: blob.digest, type: "blob" });
    return keepBlob(call, place.repo, blob);
  },
);

/** Links a blob of a source of this installation to the repo. */
export const linkLocalBlob = command(
  "mirroring.linkLocalBlob",
  async (
    call: Call,
    { place, mirror, digest }: { place: MirrorPlace; mirror: LocalMirror; digest: string },
  ): Promise<{ state: "linked" | "missing" | "refused" }> => {
    await requirePlace(call, place);
    const source = await localSourceOf(call, mirror);
    if (source === undefined) return { state: "refused" };
    const blob = await call.tx
      .selectFrom("repo_blobs as r")
      .innerJoin("blobs as b", "b.digest", "r.digest")
      .select(["b.digest", "b.size", "b.generation"])
      .where("r.repo", "=", source)
      .where("r.digest", "=", digest)
      .executeTakeFirst();
    if (blob === undefined) return { state: "missing" };
    await emitCopy(call, { repo: place.repo, digest, type: "blob" });
    await keepBlob(call, place.repo, blob);
    return { state: "linked" };
  },
);

/**
 * Stores a copied manifest. `missing`: the references that the repo lacks and its policy requires; unless empty,
 * nothing was stored.
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

/** A tag, the digest it has at the source, and the digest it had here when it was read (`before`). */
export interface FollowedTag extends MirrorPlace {
  tag: string;
  digest: string;
  before: string;
  /** Its moves at the source, another Moorage, as far as they are known, from the oldest on. */
  past?: TagPast | undefined;
}

/** What is known of a tag's past at another Moorage. */
export interface TagPast {
  /** That registry. */
  source: string;
  moves: readonly PastMove[];
}

/**
 * Moves a tag to the digest it has at the source, unless it no longer points to `before` (empty: it did not exist);
 * then the next run compares again. `gone`: the repo no longer holds the digest; `kept`: the tag was moved or deleted
 * here, and the repo's source lets it stay so. Throws FAILED_PRECONDITION when the
 * repo's policy does not let the tag move, or a policy of signatures blocks what it would point to.
 */
export const followTag = command(
  "mirroring.followTag",
  async (
    call: Call,
    { tag, digest, before, past, ...place }: FollowedTag,
  ): Promise<{ gone: boolean; kept?: boolean }> => {
    await requirePlace(call, place);
    const { repo } = place;
    if (place.upstream !== undefined) await noteCheck(call, repo, tag);
    if (await isKept(call, place, tag)) return { gone: false, kept: true };
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
    const violations = await judgeSignedCopy(call, repo, { name: tag, digest });
    if (violations.length > 0) throw failedPrecondition(...violations);
    const { moves = [], source = "" } = past ?? {};
    const last = moves.at(-1);
    // Otherwise the tag moved again since, or the source says one thing here and another there.
    const timeMs = last?.digest === digest ? Math.min(last.timeMs, call.nowMs) : call.nowMs;
    const { uid, moved, updateTimeMs } = await moveTag(call, { repo, name: tag, digest, reason: "mirror", timeMs });
    if (moved) await addPastMoves(call, { repo, tag, source, movedMs: updateTimeMs }, moves);
    else if (last?.digest === digest) await addRoundTrip(call, { repo, tag, source }, moves);
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

/** Whether the tag was last moved or deleted by somebody here, and the repo's source lets it stay so. */
async function isKept(call: Call, { repo, sync, upstream }: MirrorPlace, tag: string): Promise<boolean> {
  if (upstream !== undefined) return false;
  if (syncSettings(sync === "" ? null : sync)?.keepsMoved !== true) return false;
  const [last] = await selectLastReason(call.tx, repo, tag);
  return last !== undefined && last.reason !== "mirror" && last.reason !== "import";
}

/** Throws ABORTED when the repo's source has changed, or the run no longer holds the repo. */
export async function requirePlace(call: Call, { repo, sync, holder, upstream }: MirrorPlace): Promise<void> {
  if (upstream !== undefined) {
    if (await isOrigin(call.tx, repo, upstream)) return;
    throw new MoorageError(Code.Aborted, "Aborted: the group no longer stands for the registry");
  }
  const found = await call.tx
    .selectFrom("mirrors as m")
    .innerJoin("repos as r", "r.uid", "m.repo")
    .select(["m.holder", "r.sync_config"])
    .where("m.repo", "=", repo)
    .executeTakeFirst();
  if (found?.sync_config === sync && (holder === undefined || found.holder === holder)) return;
  throw new MoorageError(Code.Aborted, "Aborted: the repo's source has changed, or another run copies it");
}

async function count(
  call: Call,
  { repo, upstream }: MirrorPlace,
  { manifests, bytes }: { manifests: number; bytes: number },
): Promise<void> {
  if (upstream !== undefined) return;
  await call.tx
    .updateTable("mirrors")
    .set((eb) => ({
      manifests_copied: eb("manifests_copied", "+", manifests),
      bytes_copied: eb("bytes_copied", "+", bytes),
    }))
    .where("repo", "=", repo)
    .execute();
}

/** All commands of mirroring. */
export const mirrorCommands = [
  claimMirror,
  endRun,
  followTag,
  holdMirror,
  keepCopiedBlob,
  linkLocalBlob,
  storeCopiedManifest,
  touchReferences,
] as const;
