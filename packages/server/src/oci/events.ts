import { RegistryCollectSchema, RegistryDeleteSchema, RegistryPushSchema } from "@moorage/api";
import { timestamp } from "../lib/timestamps.ts";
import { parentOf } from "../lib/uid.ts";
import type { Call } from "../core/call.ts";
import { pathOf } from "./names.ts";

/** What of a repo an event tells of. */
export interface Content {
  repo: string;
  digest: string;
  type: "manifest" | "blob";
}
/** `repository`: the image's path. `tag`: absent when it was pushed by digest. */
export interface Pushed extends Content {
  repository: string;
  tag?: string;
  isSystem?: boolean;
}

// A digest takes some seventy characters, and the body of an event is bounded.
const MAX_DIGESTS = 500;

/** Tells that content came into a repo. Source: contract §9. */
export function emitPush(call: Call, { isSystem = false, ...pushed }: Pushed): void {
  call.emit(RegistryPushSchema, {
    type: "registry.push.v1",
    ...placeOf(pushed.repo),
    isSystem,
    body: { ...pushed, ...fromWhere(call), repoId: pushed.repo },
  });
}

/** Tells that content was copied into a repo from its source. */
export async function emitCopy(call: Call, content: Content): Promise<void> {
  emitPush(call, { ...content, repository: await pathOf(call.tx, content.repo), isSystem: true });
}

/** Tells that somebody deleted content of a repo by its digest. `repository`: the image's path. */
export function emitDelete(call: Call, deleted: Content & { repository: string }): void {
  call.emit(RegistryDeleteSchema, {
    type: "registry.delete.v1",
    ...placeOf(deleted.repo),
    body: { ...deleted, ...fromWhere(call), repoId: deleted.repo },
  });
}

/** Tells what garbage collection removed from a repo. */
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
      when: timestamp(call.nowMs),
    };
    call.emit(RegistryCollectSchema, { type: "registry.collect.v1", ...placeOf(repo), isSystem: true, body });
  }
}

function placeOf(repo: string): { subject: string; group: string } {
  return { subject: repo, group: parentOf(repo) };
}

function fromWhere({ nowMs, remoteAddress, userAgent }: Call) {
  return { when: timestamp(nowMs), remoteAddress, userAgent };
}
