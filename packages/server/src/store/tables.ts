import type { Generated, Selectable } from "kysely";
import type { LibraryTables } from "./library-tables.ts";
import type { SecurityTables } from "./security-tables.ts";

// Columns are text, integer, blob. Times are integer milliseconds since 1970. Booleans are 0 and 1. Lists and objects
// are JSON text.

export interface Tables extends SecurityTables, LibraryTables {
  /** Key-value pairs that identify the installation. */
  installation: { key: string; value: string };
  signing_keys: {
    kid: string;
    algorithm: string;
    private_jwk: string;
    public_jwk: string;
    create_time: number;
    retire_time: number | null;
  };
  refresh_tokens: {
    hash: string;
    family: string;
    identity: string;
    caller: string;
    expire_time: number;
    used_time: number | null;
    /** When the first of its family was issued, and when this one was; 0 for those of before they were recorded. */
    create_time: Generated<number>;
    seen_time: Generated<number>;
  };
  groups: {
    uid: string;
    parent: string;
    name: string;
    description: string;
    verified: number;
    kind: number;
    status: number;
    resource_limits: string;
    create_time: number;
    update_time: number;
  };
  /** Names that organizations had until `free_time`; `uid`: the organization that had it last. */
  freed_names: { name: string; uid: string; free_time: number };
  identities: {
    uid: string;
    parent: string;
    name: string;
    description: string;
    email: string;
    email_unverified: string;
    company: string;
    /** The number of the RelationshipType; 0 without a relationship. */
    relationship_type: number;
    /** The oneof `relationship` as proto3 JSON. */
    relationship: string;
    /** The exact issuer and subject, for look-ups; empty where they are patterns. */
    issuer: string;
    subject: string;
    /**
     * The identity provider through which a person signs in, whose issuer and subject these are; empty for all other
     * identities.
     */
    provider: Generated<string>;
    /** The identity that created it; empty when it is not known. */
    creator: Generated<string>;
    /** What of the person's groups the last sign-in left out, in words; empty for nothing. */
    groups_left_out: Generated<string>;
    last_seen_time: number | null;
    create_time: number;
    update_time: number;
  };
  roles: {
    uid: string;
    parent: string;
    name: string;
    description: string;
    capabilities: string;
    create_time: number;
    update_time: number;
  };
  role_bindings: { uid: string; parent: string; identity_uid: string; role_uid: string; create_time: number };
  /**
   * Codes that grant a role on the group `parent`. Only the SHA-256 of a code is stored, in hex; `creator` must hold
   * the role when it is accepted.
   */
  group_invites: {
    uid: string;
    parent: string;
    role_uid: string;
    email: string;
    single_use: number;
    code_hash: string;
    key_id: string;
    creator: string;
    expiration_time: number;
    create_time: number;
  };
  /** Which identity accepted an invite, when, and the role binding that this created. */
  invite_acceptances: { invite: string; identity: string; binding: string; create_time: number };
  /** Codes of deleted invites, until they would have expired. */
  revoked_invites: { code_hash: string; expiration_time: number };
  /** Acceptances, by the group `parent`, of a document of the setting MOORAGE_TERMS_FILE. */
  terms_acceptances: { uid: string; parent: string; doc_id: string; accepted_by: string; create_time: number };
  /** `uid` is the group's own, `parent` the group's parent. The accounts are proto3 JSON, null when there is none. */
  account_associations: {
    uid: string;
    parent: string;
    name: string;
    description: string;
    amazon: string | null;
    google: string | null;
    services: string | null;
    azure: string | null;
    github: string | null;
    create_time: number;
    update_time: number;
  };
  /**
   * OpenID providers for the sign-in of people. `client_secret` is sealed, or empty. `additional_scopes` is a JSON
   * list, `correlation_rule` the number of a CorrelationRule, `default_role` empty for none.
   */
  identity_providers: {
    uid: string;
    parent: string;
    name: string;
    description: string;
    default_role: string;
    issuer: string;
    client_id: string;
    client_secret: string;
    additional_scopes: string;
    groups_claim: string;
    correlation_rule: number;
    pkce_enabled: number;
    /** 1 for a provider from before providers had callbacks of their own, until it is moved. */
    shared_callback: number;
    create_time: number;
    update_time: number;
  };
  /** Members of the external group at the provider `parent` hold the role on the group `scope`. */
  external_group_role_mappings: {
    uid: string;
    parent: string;
    external_group_id: string;
    role_uid: string;
    scope: string;
    create_time: number;
  };
  /**
   * Sign-ins in progress at a provider. `hash`: SHA-256 of the state; `browser`: SHA-256 of the cookie of the browser
   * that must return; `network`: as networkOf has it. `content` is sealed: the request, and values that must stay
   * secret until then.
   */
  sign_ins: { hash: string; browser: string; network: string; content: string; expire_time: number };
  /**
   * Authorization codes of this issuer, by their SHA-256. `caller`: as in refresh_tokens; `family`: of the refresh
   * tokens that the code gave.
   */
  authorization_codes: {
    hash: string;
    client_id: string;
    redirect_uri: string;
    challenge: string;
    identity: string;
    caller: string;
    family: string;
    used_time: number | null;
    expire_time: number;
  };
  /**
   * Devices that wait for a person's approval, by the SHA-256 of the device code. `request`: what the tokens are
   * limited to, as JSON. `state`: pending, approved, denied or used; identity and caller are empty until it is
   * approved.
   */
  device_codes: {
    hash: string;
    user_code_hash: string;
    client_id: string;
    provider: string;
    request: string;
    address: string;
    network: string;
    user_agent: string;
    state: string;
    identity: string;
    caller: string;
    family: string;
    poll_time: number;
    interval_ms: number;
    expire_time: number;
  };
  /**
   * Browsers that are signed in, by the SHA-256 of their cookie. `caller`: as in refresh_tokens; `network`: as
   * networkOf has it.
   */
  sessions: {
    hash: string;
    identity: string;
    caller: string;
    seen_time: number;
    expire_time: number;
    create_time: number;
    uid: Generated<string>;
    network: Generated<string>;
    user_agent: Generated<string>;
  };
  /**
   * Groups of people at identity providers that are too many for a token, by a SHA-256 of them and of whose they are.
   * `external_groups`: a list in JSON; `expire_time`: when the provider's last token with them ends.
   */
  sign_in_groups: { uid: string; identity: string; provider: string; external_groups: string; expire_time: number };
  /** Links to sign in with, each once, by the SHA-256 of their secret. `caller`: as in refresh_tokens. */
  sign_in_links: { hash: string; identity: string; caller: string; create_time: number; expire_time: number };
  /**
   * Changes and rejections, below the resource concerned: `parent`, which may be deleted. `organization`: the one that
   * the parent is in, or empty. `act` and `details` are JSON maps of text, `decision` the number of an AuditDecision.
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
  repos: {
    uid: string;
    parent: string;
    name: string;
    description: string;
    catalog_tier: number;
    bundles: string;
    readme: string;
    aliases: string;
    active_tags: string;
    /** SyncConfig without its password, and TagPolicy, as proto3 JSON; null when there is none. */
    sync_config: string | null;
    tag_policy: string | null;
    /** RepoProduct as proto3 JSON; null when there is none. */
    product: string | null;
    create_time: number;
    update_time: number;
  };
  tags: {
    uid: string;
    parent: string;
    name: string;
    digest: string;
    deprecated: number;
    bundles: string;
    create_time: number;
    update_time: number;
    /** Of tags by which cosign attaches: who made it point to its digest. See manifests.pushed_by. */
    moved_by: Generated<string>;
    may_advise: Generated<number>;
  };
  /**
   * Every digest that a tag pointed to. `reason`: push, api, mirror, promote or rollback; delete or retention (then the
   * digest is empty).
   */
  tag_history: { repo: string; tag: string; time: number; digest: string; actor: string; reason: string };
  /**
   * The last event of a repo's vulnerability gate about an image and an action (`pull`, `promote`), for a day. `mode`:
   * `rejected` or `previewed`; `findings`: see findingsHash.
   */
  gate_events: { repo: string; digest: string; action: string; mode: string; findings: string; time: number };
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
     * Of what attaches something, a referrer or an index with attestations: who pushed it, and 1 if that identity held
     * CAP_ADVISORIES_CREATE on the repo's group then. Empty and 0 for the rest, and for what the server stored.
     */
    pushed_by: Generated<string>;
    may_advise: Generated<number>;
  };
  /** The content that a manifest needs: kind is blob or manifest. Its subject is not included. */
  manifest_references: { repo: string; digest: string; target: string; kind: string };
  uploads: { uid: string; repo: string; identity: string; create_time: number; update_time: number };
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
  /**
   * Events of committed changes that have no number yet, in an order in which effects come after their causes. `type`
   * is without the configured prefix. `parent`: the group that it happened in, or empty. `target`: the only
   * subscription to send it to, or empty. `actor` and `body` are JSON.
   */
  event_outbox: {
    n: Generated<number>;
    id: string;
    type: string;
    subject: string;
    parent: string;
    target: string;
    time: number;
    actor: string;
    body: string;
  };
  /** Pulls for which no event was emitted yet. `pulls`: a JSON list of them. The ids are in the order of time. */
  pull_notes: { id: string; pulls: string };
  /**
   * Events in the order of reading: `seq` counts all events from 1, and no event becomes visible later before a visible
   * one. `number` counts the events of the subject. `organization`: the one that `parent` is in, or empty.
   */
  events: {
    seq: number;
    id: string;
    type: string;
    subject: string;
    parent: string;
    organization: string;
    target: string;
    number: number;
    time: number;
    actor: string;
    body: string;
  };
  /**
   * The last number of each subject; for the empty subject, the last `seq`; for `gone:<organization>`, the newest `seq`
   * there that was removed for its age. `end_time`: when the subject was deleted.
   */
  event_numbers: { subject: string; number: number; end_time: number | null };
  /**
   * `state`: the number of a SubscriptionState. The prefixes are JSON lists. The secrets are sealed; `old_secret` may
   * be empty.
   */
  subscriptions: {
    uid: string;
    parent: string;
    sink: string;
    state: number;
    state_reason: string;
    type_prefixes: string;
    subject_prefixes: string;
    /** 1: of pushes and pulls only those by a tag. */
    tagged_only: number;
    secret: string;
    old_secret: string;
    old_secret_expire_time: number | null;
    /** Requests a minute; 0 for no limit. `handshake_time`: when the sink was last asked for permission. */
    allowed_rate: number;
    handshake_time: number | null;
    create_time: number;
    update_time: number;
  };
  /**
   * The processes that serve the installation, with the version of their program and the schema version that it works
   * with. `until_time`: until when the row holds unless it is renewed, in milliseconds of the agreed time.
   */
  processes: { id: string; version: string; schema: number; until_time: number };
  /** The process that sends for a subscription, and until when unless it extends the lease. */
  subscription_leases: { subscription: string; holder: string; until_time: number };
  /**
   * Events to be sent to the subscription `parent`. The uid ends in the event's `seq`, as 16 hex digits. `state`: the
   * number of a DeliveryState. `step`: the number of attempts in the current schedule. `next_time`: when it is due,
   * also while it is being sent; null once it has ended. `attempts`: a JSON list of [start ms, latency ms, status,
   * error].
   */
  deliveries: {
    uid: string;
    parent: string;
    seq: number;
    event_id: string;
    event_type: string;
    event_subject: string;
    state: number;
    tries: number;
    step: number;
    last_status: number;
    last_error: string;
    last_latency_ms: number;
    next_time: number | null;
    attempts: string;
    create_time: number;
    update_time: number;
  };
  /**
   * Descendants with the name to order by: (kind, ancestor, name, uid); strict ancestors only, except that groups have
   * themselves as well.
   */
  ancestry: { kind: string; ancestor: string; name: string; uid: string };
  /** The number of resources of a kind below an ancestor. */
  counters: { kind: string; ancestor: string; n: number };
}

/** The tables whose rows are resources. */
export type ResourceTable =
  | "groups"
  | "identities"
  | "roles"
  | "role_bindings"
  | "group_invites"
  | "terms_acceptances"
  | "account_associations"
  | "identity_providers"
  | "external_group_role_mappings"
  | "audit_entries"
  | "sessions"
  | "repos"
  | "tags"
  | "subscriptions"
  | "scanners"
  | "scans"
  | "advisories"
  | "advisory_events"
  | "deliveries"
  | "artifacts"
  | "artifact_versions"
  | "upstreams"
  | "artifact_policies"
  | "artifact_blocks";

export type Row<T extends keyof Tables> = Selectable<Tables[T]>;
