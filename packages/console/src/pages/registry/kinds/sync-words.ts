import type { SyncState } from "../../../api/gen/registry.ts";
import type { BadgeLook } from "../../../ui/badge.tsx";

const WORDS: Record<SyncState, readonly [look: BadgeLook, word: string]> = {
  SYNC_STATE_UNSPECIFIED: ["plain", "not started"],
  SYNC_STATE_PENDING: ["accent", "starting soon"],
  SYNC_STATE_RUNNING: ["accent", "copying"],
  SYNC_STATE_SUCCEEDED: ["success", "succeeded"],
  SYNC_STATE_FAILED: ["danger", "failed"],
  SYNC_STATE_RATE_LIMITED: ["warning", "limited by the source"],
};

/** How the copying of a mirror goes, in a word or two. */
export function syncWord(state: SyncState): readonly [look: BadgeLook, word: string] {
  return WORDS[state];
}
