import { useQueries } from "@tanstack/react-query";
import { listFindings } from "../../../api/gen/vulnerabilities.ts";
import { query } from "../../../api/queries.ts";
import { countSeverities, type SeverityCounts } from "../../../lib/severities.ts";
import type { Move, Slot } from "./timeline-layout.ts";

// The API counts the findings of one digest a call: where more are seen together they are left out, and that is said.
const MAX_DIGESTS = 60;
const MAX_FINDINGS = 200;
const FRESH_MS = 60_000;

/** What is known of the findings of the moves that are seen. */
export interface FindingsOf {
  /** Undefined while they are read, and where they are not known. */
  of(move: Move | undefined): SeverityCounts | undefined;
  /** Whether so much is seen that nothing was asked for. */
  isTooMuch: boolean;
}

/** The findings of the newest move of each slot, by today's data. */
export function useFindingsOf(repo: string, moves: readonly Move[], slots: readonly Pick<Slot, "index">[]): FindingsOf {
  const digests = [
    ...new Set(
      slots
        .map(({ index }) => moves[index])
        .flatMap((move) => (move === undefined || move.isDeletion ? [] : [move.digest])),
    ),
  ];
  const isTooMuch = digests.length > MAX_DIGESTS;
  const asked = isTooMuch ? [] : digests;
  const results = useQueries({
    queries: asked.map((digest) => ({
      ...query(listFindings, { repo, digest, pageSize: MAX_FINDINGS }),
      retry: false,
      staleTime: FRESH_MS,
    })),
  });
  const counts = new Map<string, SeverityCounts>();
  for (const [at, { data }] of results.entries()) {
    const isKnown =
      data !== undefined && (data.findings.length > 0 || (data.unknownImages.length === 0 && data.notCompared === 0));
    if (isKnown && data.state === "KNOWLEDGE_STATE_READ") counts.set(asked[at] ?? "", countSeverities(data.findings));
  }
  return { isTooMuch, of: (move) => (move === undefined ? undefined : counts.get(move.digest)) };
}
