import { RegistryVersionMovedSchema } from "@moorage/api/messages";
import { civilTime } from "@moorage/kernel/lib/timestamps";
import { parentOf } from "@moorage/kernel/lib/uid";
import type { Call } from "@moorage/kernel/core/call";
import { pathOf } from "@moorage/kernel/core/image-path";

/** A move of a tag that looks like a version. */
export interface VersionMove {
  /** The repo's uid. */
  repo: string;
  tag: string;
  digest: string;
  previousDigest: string;
  /** Why, as in the tag's history. */
  reason: string;
  isSystem: boolean;
}

// Three numbers at least: `1` and `1.2` commonly follow the newest release, and are meant to move.
const VERSION = /^v?\d+\.\d+\.\d+(?:[._-].*)?$/i;

/**
 * Whether a tag's name looks like the version of one release, which people expect to stay where it is: three or more
 * numbers with dots between them, after a `v` or not, and before anything that `-`, `_` or `.` separates. So `1.2.3`,
 * `v1.2.3-rc.1` and `2026.11.22` are versions, `1.2` and `latest` are not.
 */
export function isVersionTag(name: string): boolean {
  return VERSION.test(name);
}

/** Emits the event of a version that moved. Source: docs/events.md, "A version that moved". */
export async function emitVersionMoved(call: Call, { repo, isSystem, ...move }: VersionMove): Promise<void> {
  const { nowMs, remoteAddress, userAgent } = call;
  call.emit(RegistryVersionMovedSchema, {
    type: "registry.version_moved.v1",
    subject: repo,
    group: parentOf(repo),
    isSystem,
    body: {
      ...move,
      repository: await pathOf(call.tx, repo),
      repoId: repo,
      when: civilTime(nowMs),
      remoteAddress,
      userAgent,
    },
  });
}
