import { declareTables } from "@moorage/kernel/store";

declare module "@moorage/kernel/store/tables" {
  interface Tables {
    /**
     * `aliases` and `severities` are JSON lists. `latest_type`: the type of the latest approved event that v2 shows,
     * 0 without one. A deleted advisory keeps its row and its events.
     */
    advisories: {
      uid: string;
      parent: string;
      advisory_id: string;
      author: string;
      artifact_name: string;
      artifact_type: string;
      artifact_architecture: string;
      component_name: string;
      component_location: string;
      component_type: string;
      aliases: string;
      legacy_advisory_id: string;
      severities: string;
      origin: string;
      latest_type: number;
      create_time: number;
      update_time: number;
      delete_time: number | null;
    };
    /**
     * `type`: the number of the EventTypeFilter; `content`: the oneof `type` as proto3 JSON; `findings` is base64,
     * empty for none.
     */
    advisory_events: {
      uid: string;
      parent: string;
      type: number;
      content: string;
      findings: string;
      issue: string;
      author: string;
      reviewer: string;
      review_state: number;
      review_time: number | null;
      create_time: number;
    };
    /**
     * The aliases of an advisory in lower case. `subject`: the SHA-256 of its group, artifact and component, in hex:
     * one subject has an alias once. A deleted advisory has no rows.
     */
    advisory_aliases: { advisory: string; alias: string; subject: string };
    /**
     * The ends of what an advisory is searched by, in lower case: a text contains another if one of its ends begins
     * with it. A deleted advisory has no rows.
     */
    advisory_suffixes: { organization: string; suffix: string; advisory: string };
    /**
     * What an advisory said by its latest approved event, from `from_time` until `until_time`, null while it does:
     * times are milliseconds since 1970. The columns of the advisory and of the event are those of then.
     */
    advisory_decisions: {
      advisory: string;
      from_time: number;
      until_time: number | null;
      event: string;
      event_time: number;
      type: number;
      content: string;
      advisory_id: string;
      artifact_name: string;
      artifact_type: string;
      artifact_architecture: string;
      component_name: string;
      component_location: string;
      component_type: string;
    };
    /** The ids of the vulnerability of a decision, in lower case. `parent`: the group of the advisory. */
    advisory_decision_ids: { parent: string; alias: string; advisory: string; from_time: number };
  }
}

export const ADVISORY_TABLES = declareTables({
  advisories: { key: ["uid"], weight: "length(severities) + length(component_location)" },
  advisory_events: { key: ["uid"], weight: "length(content) + length(findings)" },
  advisory_aliases: { key: ["advisory", "alias"] },
  advisory_suffixes: { key: ["organization", "suffix", "advisory"] },
  advisory_decisions: { key: ["advisory", "from_time"], weight: "length(content)" },
  advisory_decision_ids: { key: ["parent", "alias", "advisory", "from_time"] },
});
