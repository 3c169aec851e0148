import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { call } from "../../../api/call.ts";
import { listEvents } from "../../../api/gen/events.ts";
import { listTags } from "../../../api/gen/registry.ts";
import { collection } from "../../../api/queries.ts";
import { readRegistry } from "../../../api/registry.ts";
import { parentUid } from "../../../lib/uid.ts";
import type { Move } from "./timeline-layout.ts";

const PAGE_SIZE = 1_000;
const ANNOTATION = "org.opencontainers.distribution.tag";
const EVENTS_PER_PAGE = 200;
const MAX_EVENT_PAGES = 5;
const TAG_EVENT = /\.registry\.tag\.(?:created|updated|deleted)\.v1$/;

interface HistoryIndex {
  manifests: { digest: string; annotations: Record<string, string> }[];
}

/** The image's path and the tag of `acme/app:1.2`; an empty tag without one. */
export function splitName(name: string): { repo: string; tag: string } {
  const at = name.lastIndexOf(":");
  return at > name.lastIndexOf("/") ? { repo: name.slice(0, at), tag: name.slice(at + 1) } : { repo: name, tag: "" };
}

/** The history of a tag, newest first, 1,000 records a page. Source: docs/time-travel.md. */
export function historyQuery(repo: string, tag: string) {
  return infiniteQueryOptions({
    queryKey: [collection(listTags), "history", repo, tag],
    initialPageParam: "",
    queryFn: async ({ signal, pageParam }): Promise<Move[]> => {
      const before = pageParam === "" ? "" : `&before=${encodeURIComponent(pageParam)}`;
      const path = `_oci/tag-history/${encodeURIComponent(tag)}?n=${PAGE_SIZE}${before}`;
      const { text } = await readRegistry(repo, path, { signal });
      return (JSON.parse(text) as HistoryIndex).manifests.map(({ digest, annotations }) => ({
        digest,
        timeMs: Date.parse(annotations[`${ANNOTATION}.timestamp`] ?? ""),
        isDeletion: annotations[`${ANNOTATION}.event`] === "deleted",
      }));
    },
    getNextPageParam: (page: Move[]) => {
      const last = page.length < PAGE_SIZE ? undefined : page.at(-1);
      return last && new Date(last.timeMs).toISOString();
    },
  });
}

/** Who moved a tag, and why. */
export interface Reason {
  /** The identity's uid; empty when the server did it. */
  actor: string;
  /** Such as push, promote, rollback, mirror or retention. */
  reason: string;
}

/** Who moved the tag and why, by the time in milliseconds since 1970, as far as the recent events say. */
export function reasonsQuery(repoUid: string, tag: string) {
  return queryOptions({
    queryKey: [collection(listTags), "reasons", repoUid, tag],
    queryFn: async ({ signal }): Promise<Record<string, Reason>> => {
      const found: Record<string, Reason> = {};
      let cursor = "recent";
      for (let left = MAX_EVENT_PAGES; left > 0; left--) {
        const group = parentUid(repoUid);
        // The beginning of their types is a setting of the server.
        const input = { group, cursor, pageSize: EVENTS_PER_PAGE, subjectPrefixes: [repoUid] };
        const { events, nextCursor, more } = await call(listEvents, input, { signal });
        for (const { type, time = "", data = {}, actor } of events) {
          const body = (data["body"] ?? {}) as { name?: string; reason?: string };
          if (body.name === tag && TAG_EVENT.test(type)) found[Date.parse(time)] = { actor, reason: body.reason ?? "" };
        }
        if (!more) break;
        cursor = nextCursor;
      }
      return found;
    },
  });
}
