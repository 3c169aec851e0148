import type { Generated } from "kysely";
import { declareTables } from "@moorage/kernel/store";

declare module "@moorage/kernel/store/tables" {
  interface Tables {
    /**
     * The registries that groups stand for: one for the group `parent`. `credential`: the password, sealed; empty for
     * none. `allowed`, `denied`, `allowed_digests` and `anonymous_networks` are JSON lists, the durations, `rate`,
     * `tag_policy`, `follow` and `follow_state` JSON or null. `held_until`: nothing is asked there before, in
     * milliseconds of the agreed time; 0 without a limit.
     */
    registry_upstreams: {
      uid: string;
      parent: string;
      registry: string;
      prefix: string;
      description: string;
      username: string;
      credential: string;
      allowed: string;
      denied: string;
      tag_ttl: string | null;
      missing_ttl: string | null;
      cooldown: string | null;
      allowed_digests: string;
      anonymous_networks: string;
      disabled: number;
      last_success_time: number | null;
      last_error: string;
      last_error_time: number | null;
      rate: string | null;
      held_until: number;
      keep_unpulled: string | null;
      max_bytes: Generated<number>;
      tag_policy: string | null;
      follow: string | null;
      follow_state: string | null;
      create_time: number;
      update_time: number;
    };
    /**
     * The repos that came from an upstream, and their names at the registry. Other repos below its group did not.
     * `follow_time`: when the last turn began that copied all that is followed of it, null without one; `follow_tags`
     * and `missing_tags`: how many tags it was to copy last, and how many of them it did not.
     */
    upstream_repos: {
      repo: string;
      upstream: string;
      name: string;
      follow_time: Generated<number | null>;
      follow_tags: Generated<number>;
      missing_tags: Generated<number>;
    };
    /**
     * The upstreams that are followed. `turn_time`: when the turn began that has not come to its end, null without one;
     * `begin_time`: since when it is followed; `success_time`: when the last turn began after which all was here, null
     * without one. `forced`: 1 when the next turn deletes whatever is gone. `next_time` and `hold_until` are of the
     * agreed time.
     */
    upstream_follows: {
      upstream: string;
      next_time: number;
      holder: string;
      hold_until: number;
      turn_time: number | null;
      begin_time: number;
      success_time: number | null;
      failures: number;
      forced: number;
    };
    /** When a tag of such a repo was last compared with the registry's. */
    upstream_tags: { repo: string; tag: string; check_time: number };
    /** What such a tag pointed to at the registry, and since when that is known; only with a cooldown. */
    upstream_sightings: { repo: string; tag: string; digest: string; seen_time: number };
    /**
     * Since when a digest is known in such a repo: by itself (`parent` is empty), or as a part of the manifest
     * `parent`, whose age is its own.
     */
    upstream_digests: { repo: string; digest: string; parent: string; seen_time: number };
    /**
     * What a center that is followed said its pull tokens may pull: a keyed hash of the token, in hex, with a name of a
     * repository there, or without one for the token itself. It counts until `until_time`, in milliseconds since 1970.
     */
    center_pulls: { upstream: string; secret: string; name: string; seen_time: number; until_time: number };
  }
}

export const UPSTREAM_TABLES = declareTables({
  registry_upstreams: {
    key: ["uid"],
    weight:
      "length(description) + length(allowed) + length(denied) + length(allowed_digests) + length(anonymous_networks) + coalesce(length(tag_policy), 0)",
  },
  upstream_repos: { key: ["repo"] },
  upstream_follows: { key: ["upstream"] },
  upstream_tags: { key: ["repo", "tag"] },
  upstream_sightings: { key: ["repo", "tag", "digest"] },
  upstream_digests: { key: ["repo", "digest", "parent"] },
  center_pulls: { key: ["upstream", "secret", "name"] },
});
