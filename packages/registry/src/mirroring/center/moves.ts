import { isDigest } from "../../oci/index.ts";
import type { CenterClient } from "./client.ts";
import { timeIn } from "./times.ts";

/** A move of a tag at a Moorage. */
interface CenterMove {
  /** Empty: it was deleted. */
  digest: string;
  /** When, in milliseconds since 1970. */
  timeMs: number;
}

/** The moves of a tag. */
export interface CenterMoves {
  /** From the oldest on, each later than the one before. */
  moves: CenterMove[];
  /** Whether there are older ones that were not read. */
  isCut: boolean;
  /** How many were left out, since they lie in the future, have no time or lead to no digest. */
  wrong: number;
}

/** More moves of one tag, the newest ones, are not read at a time. */
const MOST = 1_000;

/** The newest moves of a tag after a time. Throws an UpstreamError. */
export async function movesAfter(
  client: CenterClient,
  { repo, tag, afterMs, nowMs }: { repo: string; tag: string; afterMs: number; nowMs: number },
  signal: AbortSignal,
): Promise<CenterMoves> {
  const found: CenterMove[] = [];
  let wrong = 0;
  let isCut = false;
  const list = {
    path: `/registry/v2/repos/${repo}/tags/${encodeURIComponent(tag)}/moves`,
    field: "moves",
    ...(afterMs > 0 && { query: { since: new Date(afterMs + 1).toISOString() } }),
    most: 10 * MOST,
    pageSize: MOST,
  };
  for await (const page of client.pages(list, signal)) {
    if (found.length >= MOST) {
      isCut = true;
      break;
    }
    for (const { digest = "", time } of page) {
      const timeMs = timeIn(time);
      const isGood = typeof digest === "string" && (digest === "" || isDigest(digest));
      if (!isGood || timeMs === undefined || timeMs > nowMs) wrong += 1;
      else found.push({ digest, timeMs });
    }
  }
  const sorted = found.toSorted((one, other) => one.timeMs - other.timeMs).slice(-MOST);
  isCut ||= sorted.length < found.length;
  const moves = sorted.filter(({ timeMs }, at) => at === 0 || timeMs > (sorted[at - 1]?.timeMs ?? 0));
  return { moves, isCut, wrong: wrong + sorted.length - moves.length };
}
