import { useQueries } from "@tanstack/react-query";
import { getSize } from "../../../api/gen/registry.ts";
import { getCoverage, listFindings } from "../../../api/gen/vulnerabilities.ts";
import { query } from "../../../api/queries.ts";
import { countSeverities } from "../../../lib/severities.ts";
import {
  type ColumnParts,
  type ColumnsOf,
  findingParts,
  type Measure,
  packagesIn,
  plainParts,
} from "./timeline-columns.ts";
import type { Move, Slot } from "./timeline-layout.ts";

// The API is asked for one digest a call: where more are seen together they are left out, and that is said.
const MAX_DIGESTS = 60;
const MAX_FINDINGS = 200;
const FRESH = { retry: false, staleTime: 60_000 } as const;

export interface ColumnsAsked {
  repo: string;
  repoUid: string;
  measure: Measure;
}

/** What the newest move of each slot measures, by today's data. */
export function useColumns(
  { repo, repoUid, measure }: ColumnsAsked,
  moves: readonly Move[],
  slots: readonly Pick<Slot, "index">[],
): ColumnsOf {
  const digests = [
    ...new Set(
      slots
        .map(({ index }) => moves[index])
        .flatMap((move) => (move === undefined || move.isDeletion ? [] : [move.digest])),
    ),
  ];
  const isTooMuch = digests.length > MAX_DIGESTS;
  const asked = isTooMuch ? [] : digests;
  const of = (each: Measure): readonly string[] => (measure === each ? asked : []);
  const findings = useQueries({
    queries: of("findings").map((digest) => ({
      ...query(listFindings, { repo, digest, pageSize: MAX_FINDINGS }),
      ...FRESH,
    })),
  });
  const sizes = useQueries({
    queries: of("size").map((digest) => ({ ...query(getSize, { repoUid, digest }), ...FRESH })),
  });
  const coverages = useQueries({
    queries: of("packages").map((digest) => ({ ...query(getCoverage, { repoUid, digest }), ...FRESH })),
  });
  const columns = new Map<string, ColumnParts>();
  for (const [at, digest] of asked.entries()) {
    const found = findings[at]?.data;
    const size = sizes[at]?.data?.size;
    const images = coverages[at]?.data?.images;
    const packages = images && packagesIn(images);
    const isKnown =
      found !== undefined &&
      (found.findings.length > 0 || (found.unknownImages.length === 0 && found.notCompared === 0));
    if (isKnown && found.state === "KNOWLEDGE_STATE_READ")
      columns.set(digest, findingParts(countSeverities(found.findings), found.nextPageToken !== ""));
    if (size !== undefined) columns.set(digest, plainParts("size", Number(size)));
    if (packages !== undefined) columns.set(digest, plainParts("packages", packages));
  }
  return { isTooMuch, of: (move) => (move === undefined ? undefined : columns.get(move.digest)) };
}
