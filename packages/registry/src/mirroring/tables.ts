import { declareTables } from "@moorage/kernel/store";

declare module "@moorage/kernel/store/tables" {
  interface Tables {
    /**
     * Repos with a source, from sync_config. `password` is sealed, or empty. `holder` is the process that copies it,
     * until `hold_until` unless it extends that. `state`: the number of a SyncState. Times are null until there is one.
     */
    mirrors: {
      repo: string;
      /** The identity that set the source; empty for one that was set before it was noted. */
      actor: string;
      password: string;
      next_time: number;
      holder: string;
      hold_until: number;
      state: number;
      message: string;
      attempt_time: number | null;
      success_time: number | null;
      tags_seen: number;
      manifests_copied: number;
      bytes_copied: number;
      failures: number;
    };
  }
}

export const MIRRORING_TABLES = declareTables({
  mirrors: { key: ["repo"] },
});
