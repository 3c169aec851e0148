import { createTurns } from "@moorage/kernel/lib/turns";
import { isUid, parentOf } from "@moorage/kernel/lib/uid";
import { isDigest, isTag } from "../../oci/index.ts";
import { UpstreamError } from "../errors.ts";
import type { Upstream } from "../registry-client.ts";
import type { CenterClient } from "./client.ts";
import { timeIn } from "./times.ts";

const PAGE = 200;
const MOST = 200_000;
const PATH = "/registry/v2/tags";

/** A tag of a Moorage. */
export interface CenterTag {
  digest: string;
  /** When it came to point to that, in milliseconds since 1970. */
  updateMs: number;
}

/** The uids of the repos in which tags moved since the time, in milliseconds since 1970. Throws an UpstreamError. */
export async function changedSince(client: CenterClient, sinceMs: number, signal: AbortSignal): Promise<Set<string>> {
  const query = { updatedSince: new Date(sinceMs).toISOString() };
  const found = new Set<string>();
  for await (const page of client.pages({ path: PATH, field: "tags", query, most: MOST, pageSize: PAGE }, signal))
    for (const { uid } of page) {
      if (typeof uid !== "string" || !isUid(uid.slice(0, 4_000)))
        throw new UpstreamError("wrong", "its API lists tags that have no uid");
      found.add(parentOf(uid));
    }
  return found;
}

/** How the tags of a repo are read. */
export interface TagReading {
  client: CenterClient;
  /** The repo there. */
  repo: string;
  /** The same repo as any registry has it. */
  upstream: Upstream;
  /** Whether what is attached to an image is to be asked for. */
  asksReferrers(digest: string): boolean;
  /** Called when the API lists no tags of a repo that has some. */
  unlisted(): void;
}

/** A repo of a Moorage as a source. */
export interface CenterSource {
  upstream: Upstream;
  /** Its tags, when they have been listed. */
  tags: ReadonlyMap<string, CenterTag>;
  /** What tags point to that moved since the time, in milliseconds since 1970. */
  lately(sinceMs: number): ReadonlySet<string>;
}

/** The repo as a source: its tags and what they point to by a list of the API, everything else by the registry. */
export function centerUpstream(reading: TagReading): CenterSource {
  const { upstream, client, repo } = reading;
  const tags = new Map<string, CenterTag>();
  // What was asked for after the list says what is there now.
  const asked = new Set<string>();
  let recent: Set<string> | undefined;
  return {
    tags,
    lately: (sinceMs) =>
      (recent ??= new Set([...tags.values()].filter((tag) => tag.updateMs >= sinceMs).map(({ digest }) => digest))),
    upstream: {
      ...upstream,
      async *tags(signal) {
        tags.clear();
        asked.clear();
        recent = undefined;
        const turn = createTurns();
        const list = { path: PATH, field: "tags", query: { "uidp.childrenOf": repo }, most: MOST, pageSize: PAGE };
        for await (const page of client.pages(list, signal)) {
          const names: string[] = [];
          for (const { name, digest, updateTime } of page) {
            const text = typeof name === "string" ? name.slice(0, 200).toWellFormed() : "(not text)";
            if (typeof digest === "string" && isDigest(digest) && isTag(text))
              tags.set(text, { digest, updateMs: timeIn(updateTime) ?? 0 });
            names.push(text);
            await turn();
          }
          yield names;
        }
        if (tags.size > 0) return;
        // A credential without the right to list tags sees none: the registry itself says whether there are some.
        for await (const names of upstream.tags(signal)) {
          if (names.length > 0) reading.unlisted();
          yield names;
        }
      },
      async resolve(tag, signal) {
        const known = asked.has(tag) ? undefined : tags.get(tag);
        asked.add(tag);
        return known === undefined ? await upstream.resolve(tag, signal) : { digest: known.digest };
      },
      async referrers(digest, signal) {
        return reading.asksReferrers(digest) ? await upstream.referrers(digest, signal) : { digests: [] };
      },
    },
  };
}
