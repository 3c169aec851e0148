import { RegistryCollectSchema, RegistryDeleteSchema, RegistryPushSchema } from "@moorage/api/messages";
import { civilTime } from "@moorage/kernel/lib/timestamps";
import { parentOf } from "@moorage/kernel/lib/uid";
import type { Call } from "@moorage/kernel/core/call";
import { pathOf } from "@moorage/kernel/core/image-path";

/** The content of a repo that an event is about. */
export interface Content {
  repo: string;
  digest: string;
  type: "manifest" | "blob";
}
/** `repository` is the image's path. `tag` is absent for a push by digest. */
export interface Pushed extends Content {
  repository: string;
  tag?: string;
  isSystem?: boolean;
}

// The number of digests in one event, whose body is bounded; a digest takes about 70 characters.
const MAX_DIGESTS = 500;

/** Emits the event of a push. Source: docs/contract.md, "Events". */
export function emitPush(call: Call, { isSystem = false, ...pushed }: Pushed): void {
  call.emit(RegistryPushSchema, {
    type: "registry.push.v1",
    ...subjectOf(pushed.repo),
    isSystem,
    body: { ...pushed, ...requestOf(call), repoId: pushed.repo },
  });
}

/** Emits the push event of content that the server itself stores: what it copies into a mirror, or attaches. */
export async function emitCopy(call: Call, content: Content): Promise<void> {
  emitPush(call, { ...content, repository: await pathOf(call.tx, content.repo), isSystem: true });
}

/** Emits the event of content that a caller deleted by its digest. `repository` is the image's path. */
export function emitDelete(call: Call, deleted: Content & { repository: string }): void {
  call.emit(RegistryDeleteSchema, {
    type: "registry.delete.v1",
    ...subjectOf(deleted.repo),
    body: { ...deleted, ...requestOf(call), repoId: deleted.repo },
  });
}

/** Emits the events of what garbage collection, or the server itself, removed from a repo. */
export async function emitCollection(
  call: Call,
  { repo, type, digests }: Omit<Content, "digest"> & { digests: readonly string[] },
): Promise<void> {
  if (digests.length === 0) return;
  const repository = await pathOf(call.tx, repo);
  for (let at = 0; at < digests.length; at += MAX_DIGESTS) {
    const body = {
      repository,
      repoId: repo,
      type,
      digests: digests.slice(at, at + MAX_DIGESTS),
      when: civilTime(call.nowMs),
    };
    call.emit(RegistryCollectSchema, { type: "registry.collect.v1", ...subjectOf(repo), isSystem: true, body });
  }
}

function subjectOf(repo: string): { subject: string; group: string } {
  return { subject: repo, group: parentOf(repo) };
}

function requestOf({ nowMs, remoteAddress, userAgent }: Call) {
  return { when: civilTime(nowMs), remoteAddress, userAgent };
}
