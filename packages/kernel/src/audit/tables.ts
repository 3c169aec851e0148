import { declareTables } from "../store/index.ts";

declare module "../store/tables.ts" {
  interface Tables {
    /**
     * Changes and rejections, below the resource concerned: `parent`, which may be deleted. `organization`: the one
     * that the parent is in, or empty. `act` and `details` are JSON maps of text, `decision` the number of an
     * AuditDecision.
     */
    audit_entries: {
      uid: string;
      parent: string;
      organization: string;
      create_time: number;
      identity: string;
      token_id: string;
      act: string;
      method: string;
      decision: number;
      code: number;
      reason: string;
      details: string;
      request_id: string;
      remote_address: string;
      user_agent: string;
    };
  }
}

export const AUDIT_TABLES = declareTables({
  audit_entries: { key: ["uid"] },
});
