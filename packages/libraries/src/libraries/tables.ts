import { declareTables } from "@moorage/kernel/store";

declare module "@moorage/kernel/store/tables" {
  interface Tables {
    /**
     * npm packages, Python projects and Maven artifacts of the group `parent`. `ecosystem`: the number of the
     * Ecosystem. `name` as its publisher wrote it, `normalized` as the ecosystem compares names. `size_bytes`: of all
     * files. `revision` counts the changes of the artifact, its versions and files. `state`: what the ecosystem keeps
     * of the artifact as a whole, such as the tags of npm, as JSON.
     */
    artifacts: {
      uid: string;
      parent: string;
      ecosystem: number;
      name: string;
      normalized: string;
      description: string;
      latest_version: string;
      version_count: number;
      size_bytes: number;
      revision: number;
      state: string;
      create_time: number;
      update_time: number;
    };
    /** The names of artifacts from the beginning of each of their words, in lower case. */
    artifact_words: { organization: string; ecosystem: number; word: string; artifact: string };
    /**
     * Versions of the artifact `parent`. `sort_key`: a text whose order is that of the ecosystem's versions. `origin`:
     * 1 for one that was published here, 2 for one from an upstream. `cuda`: the version of CUDA that it was built for,
     * as digits, or empty. `yanked` and `deprecated`: the reason, null when it is not. `metadata`: what its clients
     * read of it, as JSON. `publisher`: an identity. `publish_time`: when it was published, wherever that was.
     */
    artifact_versions: {
      uid: string;
      parent: string;
      version: string;
      sort_key: string;
      description: string;
      size_bytes: number;
      origin: number;
      cuda: string;
      yanked: string | null;
      deprecated: string | null;
      metadata: string;
      publisher: string;
      publish_time: number;
      create_time: number;
      update_time: number;
    };
    /**
     * Files of artifacts, and their content in `blobs`. `version`: the uid of the version; empty for a file of the
     * artifact as a whole. The sums are in hex. `metadata`: what clients read of the file, as JSON.
     */
    artifact_files: {
      artifact: string;
      name: string;
      version: string;
      size: number;
      digest: string;
      md5: string;
      sha1: string;
      sha512: string;
      metadata: string;
      create_time: number;
    };
    /**
     * Versions that were published in the group `parent` and removed. `name` is the normalized one. None of them is
     * published again, and the name stays the group's.
     */
    removed_versions: { parent: string; ecosystem: number; name: string; version: string; create_time: number };
    /**
     * The upstreams of the group `parent`, one an ecosystem. `credential`: the password, sealed; empty for none. The
     * names are patterns, as JSON lists.
     */
    upstreams: {
      uid: string;
      parent: string;
      ecosystem: number;
      description: string;
      url: string;
      username: string;
      credential: string;
      reserved_names: string;
      merged_names: string;
      disabled: number;
      last_success_time: number | null;
      last_error: string;
      last_error_time: number | null;
      create_time: number;
      update_time: number;
    };
    /**
     * What an upstream said last about something of the given name, such as a package: `content` is the JSON that its
     * ecosystem made of it, compressed by gzip, and `size` that of the JSON in bytes. `url`: that of the upstream at
     * that time. `status`: 200, or 404 when there is none. `revision`: another one for each content. `etag` and
     * `last_modified`: as the upstream sent them, or empty.
     */
    upstream_documents: {
      upstream: string;
      name: string;
      url: string;
      status: number;
      revision: string;
      etag: string;
      last_modified: string;
      fetch_time: number;
      check_time: number;
      size: number;
      content: Uint8Array;
    };
    /** Which process is fetching what of an upstream, until when unless it is done before, in the agreed time. */
    upstream_fetches: { id: string; holder: string; hold_until: number };
    /**
     * The policies of the group `parent`, one an ecosystem. `cooldown`: a duration as JSON. `blocked_purls`,
     * `allowed_purls`, `allowed_licenses` and `denied_licenses` are JSON lists. `hash`: another one for each content.
     */
    artifact_policies: {
      uid: string;
      parent: string;
      ecosystem: number;
      description: string;
      mode: number;
      cooldown: string | null;
      block_malware: number;
      blocked_purls: string;
      allowed_purls: string;
      allowed_licenses: string;
      denied_licenses: string;
      unknown_license: number;
      hash: string;
      create_time: number;
      update_time: number;
    };
    /**
     * Versions that an identity did not get of libraries of the group `parent`, or would not have got: one row for each
     * reason (of BlockReason) and mode (of PolicyMode). Times in milliseconds since 1970; `open_time`: null where the
     * version does not open by itself.
     */
    artifact_blocks: {
      uid: string;
      parent: string;
      organization: string;
      ecosystem: number;
      name: string;
      version: string;
      identity: string;
      reason: number;
      detail: string;
      mode: number;
      count: number;
      first_time: number;
      last_time: number;
      open_time: number | null;
    };
    /**
     * Downloads of a day of UTC, counted from 1970. `item`: the uid of a library, for those of all its versions, or of
     * one version; also of those that are gone.
     */
    download_days: { item: string; day: number; count: number };
    /** When a library or version was last downloaded. `artifact`: the library of a version; empty for a library. */
    last_downloads: { item: string; artifact: string; time: number };
    /** Since when downloads are counted. At most one row. */
    download_coverage: { id: number; since: number };
    /** The processes that count downloads, as `pull_counters` has those that count pulls. */
    download_counters: { id: string; time: number; until_time: number };
    /** Days of which downloads are missing. `downloads`: how many are known to be. */
    download_gaps: { day: number; downloads: number };
  }
}

export const LIBRARY_TABLES = declareTables({
  artifacts: { key: ["uid"], weight: "length(description) + length(state)" },
  artifact_words: { key: ["organization", "ecosystem", "word", "artifact"] },
  artifact_versions: { key: ["uid"], weight: "length(description) + length(metadata)" },
  artifact_files: { key: ["artifact", "name"], weight: "length(metadata)" },
  removed_versions: { key: ["parent", "ecosystem", "name", "version"] },
  upstreams: { key: ["uid"], weight: "length(description) + length(reserved_names) + length(merged_names)" },
  upstream_documents: { key: ["upstream", "name"], bytes: ["content"], weight: "length(content)" },
  artifact_policies: {
    key: ["uid"],
    weight:
      "length(description) + length(blocked_purls) + length(allowed_purls) + length(allowed_licenses) + length(denied_licenses)",
  },
  artifact_blocks: { key: ["uid"], weight: "length(detail)" },
  upstream_fetches: { key: ["id"], isLive: true },
  download_days: { key: ["item", "day"] },
  last_downloads: { key: ["item"] },
  // Of the time between an export and its import nothing is known: counting begins again there.
  download_coverage: { key: ["id"], isLive: true },
  download_counters: { key: ["id"], isLive: true },
  download_gaps: { key: ["day"] },
});
