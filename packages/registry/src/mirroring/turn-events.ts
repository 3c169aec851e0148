import { MirrorTurnSchema, SyncState } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { pathOf } from "@moorage/kernel/core/image-path";
import { civilTime } from "@moorage/kernel/lib/timestamps";
import { parentOf } from "@moorage/kernel/lib/uid";
import type { FailedTag } from "./copy-result.ts";

const MAX_REASON = 200;

/** Emits that a run failed, or succeeded after failures. `failures`: how many failed, with this one. */
export async function emitTurn(
  call: Call,
  { repo, state, message, failed = [], failedCount = 0 }: RunEnd,
  { tags, failures }: { tags: number; failures: number },
): Promise<void> {
  const type = state === SyncState.SUCCEEDED ? "registry.mirror.recovered.v1" : "registry.mirror.failed.v1";
  call.emit(MirrorTurnSchema, {
    type,
    subject: repo,
    group: parentOf(repo),
    isSystem: true,
    body: {
      repository: await pathOf(call.tx, repo),
      repoId: repo,
      message,
      rateLimited: state === SyncState.RATE_LIMITED,
      tags,
      failed: failedCount,
      failedTags: failed.map((each) => ({ ...each, reason: each.reason.slice(0, MAX_REASON) })),
      failures,
      when: civilTime(call.nowMs),
    },
  });
}

/** How a run ended. */
export interface RunEnd {
  repo: string;
  holder: string;
  /** When the run was due, as its claim said. */
  dueMs: number;
  state: SyncState;
  /** What went wrong, for the operator; empty when nothing did. */
  message: string;
  /** In how many milliseconds the next run is due. A run that was requested meanwhile is due earlier. */
  nextInMs: number;
  /** The number of tags followed. Undefined leaves the recorded number as it is. */
  tagsSeen?: number | undefined;
  /** The tags that could not be copied: the first of them, and how many there are. */
  failed?: FailedTag[];
  failedCount?: number;
}
