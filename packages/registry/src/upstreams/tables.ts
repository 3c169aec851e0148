import { declareTables } from "@moorage/kernel/store";

declare module "@moorage/kernel/store/tables" {
  interface Tables {
    /**
     * The registries that groups stand for: one for the group `parent`. `credential`: the password, sealed; empty for
     * none. `allowed`, `denied`, `allowed_digests` and `anonymous_networks` are JSON lists, the durations, `rate` and
     * `tag_policy` JSON or null. `held_until`: nothing is asked there before, in milliseconds of the agreed time; 0
     * without a limit.
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
      tag_policy: string | null;
      create_time: number;
      update_time: number;
    };
    /** The repos that came from an upstream, and their names at the registry. Other repos below its group did not. */
    upstream_repos: { repo: string; upstream: string; name: string };
    /** When a tag of such a repo was last compared with the registry's. */
    upstream_tags: { repo: string; tag: string; check_time: number };
    /** What such a tag pointed to at the registry, and since when that is known; only with a cooldown. */
    upstream_sightings: { repo: string; tag: string; digest: string; seen_time: number };
    /**
     * Since when a digest is known in such a repo: by itself (`parent` is empty), or as a part of the manifest
     * `parent`, whose age is its own.
     */
    upstream_digests: { repo: string; digest: string; parent: string; seen_time: number };
  }
}

export const UPSTREAM_TABLES = declareTables({
  registry_upstreams: {
    key: ["uid"],
    weight:
      "length(description) + length(allowed) + length(denied) + length(allowed_digests) + length(anonymous_networks) + coalesce(length(tag_policy), 0)",
  },
  upstream_repos: { key: ["repo"] },
  upstream_tags: { key: ["repo", "tag"] },
  upstream_sightings: { key: ["repo", "tag", "digest"] },
  upstream_digests: { key: ["repo", "digest", "parent"] },
});
