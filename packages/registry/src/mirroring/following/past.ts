import { lastMoveMs } from "../../registry/index.ts";
import type { CenterClient } from "../center/client.ts";
import { movesAfter } from "../center/moves.ts";
import type { CenterTag } from "../center/tags.ts";
import type { TagPast } from "../commands.ts";
import { type MirrorDeps, mirrorCall } from "../context.ts";
import type { NameList } from "../copy-result.ts";
import { UpstreamError } from "../errors.ts";

/** What is wrong with the histories of tags, by their names. */
interface PastFaults {
  /** Those with more moves than are read. */
  cut: NameList;
  /** Those with moves that were left out. */
  wrong: NameList;
  /** Those whose history could not be read. */
  unread: NameList;
}

/** A repo whose tags have a history at a Moorage. */
export interface PastSource {
  deps: MirrorDeps;
  client: CenterClient;
  /** Its uid there, and its uid here. */
  there: string;
  here: string;
  /** Its name there. */
  name: string;
  /** The registry. */
  source: string;
  tags: ReadonlyMap<string, CenterTag>;
  faults: PastFaults;
  signal: AbortSignal;
}

// By how much the clock of the registry may be ahead of ours.
const MOST_AHEAD_MS = 300_000;

/**
 * What a tag pointed to there since its last move here; `isMoved`: whether it points elsewhere now. Undefined when it
 * has not moved, or its history cannot be read, which is noted. Throws an UpstreamError when the registry limits
 * requests or does not answer.
 */
export async function pastOf(source: PastSource, tag: string, isMoved: boolean): Promise<TagPast | undefined> {
  const { deps, client, there, here, name, tags, faults, signal } = source;
  const known = tags.get(tag);
  if (known === undefined) return undefined;
  const call = mirrorCall(deps);
  const afterMs = await deps.transactor.read(call, (opened) => lastMoveMs(opened, here, tag));
  // Away and back again, since the last turn.
  if (!isMoved && known.updateMs <= afterMs) return undefined;
  try {
    const nowMs = call.nowMs + MOST_AHEAD_MS;
    const { moves, isCut, wrong } = await movesAfter(client, { repo: there, tag, afterMs, nowMs }, signal);
    if (isCut) faults.cut.add(`${name}:${tag}`);
    if (wrong > 0) faults.wrong.add(`${name}:${tag} (${wrong})`);
    return moves.length === 0 ? undefined : { source: source.source, moves };
  } catch (error) {
    if (!(error instanceof UpstreamError) || error.kind === "limited" || error.kind === "unreachable") throw error;
    faults.unread.add(`${name}:${tag} (${error.message})`);
    return undefined;
  }
}
