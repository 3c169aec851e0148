import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { call } from "../../../api/call.ts";
import { listTagMoves, listTags, type TagMove } from "../../../api/gen/registry.ts";
import { collection } from "../../../api/queries.ts";
import { repoByPathQuery } from "../../../api/repo-by-path.ts";
import type { Move } from "./timeline-layout.ts";

const PAGE_SIZE = 1_000;

/** The image's path and the tag of `acme/app:1.2`; an empty tag without one. */
export function splitName(name: string): { repo: string; tag: string } {
  const at = name.lastIndexOf(":");
  return at > name.lastIndexOf("/") ? { repo: name.slice(0, at), tag: name.slice(at + 1) } : { repo: name, tag: "" };
}

/** The moves of a tag of the repo with this path, newest first, 1,000 a page. */
export function historyQuery(repo: string, tag: string) {
  return infiniteQueryOptions({
    queryKey: [collection(listTags), "history", repo, tag],
    initialPageParam: "",
    queryFn: async ({ signal, client, pageParam: pageToken }): Promise<{ moves: Move[]; nextPageToken: string }> => {
      const repoUid = await client.ensureQueryData(repoByPathQuery(repo));
      const { moves, nextPageToken } = await call(
        listTagMoves,
        { repoUid, tag, pageSize: PAGE_SIZE, pageToken },
        { signal },
      );
      return { moves: moves.map(moveOf), nextPageToken };
    },
    getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
  });
}

/** The move in force at a time, in milliseconds since 1970; null before the first one. */
export function moveAtQuery(repoUid: string, tag: string, timeMs: number) {
  return queryOptions({
    queryKey: [collection(listTags), "move", repoUid, tag, timeMs],
    queryFn: async ({ signal }): Promise<Move | null> => {
      const before = new Date(timeMs + 1).toISOString();
      const { moves } = await call(listTagMoves, { repoUid, tag, before, pageSize: 1 }, { signal });
      return moves[0] === undefined ? null : moveOf(moves[0]);
    },
  });
}

function moveOf({ time = "", digest, previousDigest, reason, actor }: TagMove): Move {
  const isDeletion = digest === "";
  // What was imported is the word of who imported it, its time included.
  const shown = reason === "import" ? "import (a claim)" : reason;
  return { timeMs: Date.parse(time), digest: isDeletion ? previousDigest : digest, isDeletion, reason: shown, actor };
}
