import type { Generated } from "kysely";
import { declareTables } from "@moorage/kernel/store";

declare module "@moorage/kernel/store/tables" {
  interface Tables {
    /**
     * Stored content, once per installation. `generation` distinguishes copies of one digest over time; `suspect_time`:
     * since when this one is known to be missing or damaged, so that the next push of the content replaces it.
     */
    blobs: { digest: string; generation: string; size: number; create_time: number; suspect_time: number | null };
    /** Which repos may serve a blob. `touch_time` as in manifests. */
    repo_blobs: { repo: string; digest: string; create_time: number; touch_time: number };
    manifests: {
      repo: string;
      digest: string;
      media_type: string;
      content: Uint8Array;
      size: number;
      /** The digest of the manifest's subject, or empty; its artifact type; its annotations as JSON, for referrers. */
      subject: string;
      artifact_type: string;
      annotations: string;
      create_time: number;
      /**
       * When there last was a reason to keep it although nothing points to it: its push, a repeated push, or the end of
       * what needed it.
       */
      touch_time: number;
      /**
       * Of an image: the architecture that its configuration names, such as `arm/v7` or empty, and the bytes of the
       * configuration and all layers. Null for an index, and for what was stored before there were these columns.
       */
      architecture: string | null;
      image_size: number | null;
      /** Of an image: the labels of its configuration as JSON, for the search; `{}` before there was this column. */
      labels: Generated<string>;
      /**
       * Of what attaches something, a referrer or an index with attestations: who pushed it, and 1 if that identity
       * held CAP_ADVISORIES_CREATE on the repo's group then. Empty and 0 for the rest, and for what the server stored.
       */
      pushed_by: Generated<string>;
      may_advise: Generated<number>;
    };
    /** The content that a manifest needs: kind is blob or manifest. Its subject is not included. */
    manifest_references: { repo: string; digest: string; target: string; kind: string };
    /** Uploads of which something is stored. */
    uploads: { uid: string; repo: string; identity: string; create_time: number; update_time: number };
    /** Uploads that became a blob or were canceled, until their ids expire: an id alone does not say so. */
    ended_uploads: { uid: string };
  }
}

export const OCI_TABLES = declareTables({
  blobs: { key: ["digest"] },
  repo_blobs: { key: ["repo", "digest"] },
  manifests: { key: ["repo", "digest"], bytes: ["content"], weight: "size + length(annotations)" },
  manifest_references: { key: ["repo", "digest", "target"] },
  uploads: { key: ["uid"], isLive: true },
  ended_uploads: { key: ["uid"], isLive: true },
});
