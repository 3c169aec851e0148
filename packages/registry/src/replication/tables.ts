import { declareTables } from "@moorage/kernel/store";

declare module "@moorage/kernel/store/tables" {
  interface Tables {
    /**
     * Rules by which images below the group `parent` are pushed elsewhere. `credential`: the password, sealed; empty
     * for none. `destination_identity`: the uid of the identity at the destination, a Moorage; empty for another
     * registry. `interval_s`: in seconds; null without one. `deletions` and `on_conflict`: numbers of their enums.
     * `scan_time`: when all tags are compared next, in milliseconds of the agreed time; null when only a run does that.
     * `seen_time`: when the last comparison began; 0 before the first. `forced`: 1 when the next one may delete more
     * than a tenth. `held_until`: nothing is sent before, in milliseconds of the agreed time. `problem`: what is wrong
     * with the rule as a whole; empty when nothing is known to be.
     */
    replications: {
      uid: string;
      parent: string;
      name: string;
      description: string;
      repo_pattern: string;
      tag_pattern: string;
      destination: string;
      destination_identity: string;
      username: string;
      credential: string;
      flatten: number;
      on_push: number;
      interval_s: number | null;
      deletions: number;
      on_conflict: number;
      bytes_per_second: number;
      disabled: number;
      scan_time: number | null;
      seen_time: number;
      forced: number;
      held_until: number;
      problem: string;
      create_time: number;
      update_time: number;
    };
    /**
     * What a rule pushed, or is to push: an item a tag. `repository`: the repo's path below the rule's group, when it
     * was noted. `digest`: what the destination is to have; empty when nothing. `pushed_digest`: what it was last
     * seen to have from here; `put_digest`: what was last sent there, which is ours too, if nobody saw it arrive.
     * `state`: a number of ReplicationItemState. `hold_until`: until when `holder` has it, or when it is attempted
     * next. `reason`: what there is to say. `wait_time`: since when it waits. `end_time`: when the destination last
     * had what it was to have. `bytes`: what its last attempt sent; `sent_bytes`: what all have. `upload`: JSON of an
     * upload that can be resumed, or empty. `move_time`: when the tag moved to the digest here; 0 when that was not
     * noted.
     */
    replication_items: {
      replication: string;
      repository: string;
      tag: string;
      repo: string;
      digest: string;
      pushed_digest: string;
      put_digest: string;
      state: number;
      attempts: number;
      reason: string;
      holder: string;
      hold_until: number;
      wait_time: number;
      attempt_time: number | null;
      end_time: number | null;
      bytes: number;
      sent_bytes: number;
      upload: string;
      move_time: number;
    };
  }
}

export const REPLICATION_TABLES = declareTables({
  replications: { key: ["uid"], weight: "length(description)" },
  replication_items: { key: ["replication", "repository", "tag"] },
});
