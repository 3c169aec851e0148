/** The tables of security data. Columns have the types that tables.ts says. */
export interface SecurityTables {
  /**
   * `aliases` and `severities` are JSON lists. `latest_type`: the type of the latest approved event, 0 without one. A
   * deleted advisory keeps its row and its events.
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
   * `type`: the number of the EventTypeFilter; `content`: the oneof `type` as proto3 JSON; `findings` is base64, empty
   * for none.
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
   * The aliases of an advisory in lower case. `subject`: the SHA-256 of its group, artifact and component, in hex: one
   * subject has an alias once. A deleted advisory has no rows.
   */
  advisory_aliases: { advisory: string; alias: string; subject: string };
  /**
   * The ends of what an advisory is searched by, in lower case: a text contains another if one of its ends begins with
   * it. A deleted advisory has no rows.
   */
  advisory_suffixes: { organization: string; suffix: string; advisory: string };
}
