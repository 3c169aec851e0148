import type { Generated, Selectable } from "kysely";

// Columns are text, integer, blob. Times are integer milliseconds since 1970. Booleans are 0 and 1. Lists and objects
// are JSON text.

export interface Tables {
  /** One row: what this installation is. */
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
  identities: {
    uid: string;
    parent: string;
    name: string;
    description: string;
    email: string;
    email_unverified: string;
    company: string;
    /** RelationshipType's number; 0 without a relationship. */
    relationship_type: number;
    /** The oneof `relationship` as proto3 JSON. */
    relationship: string;
    /** The exact issuer and subject, for look-up; empty where they are patterns. */
    issuer: string;
    subject: string;
    /**
     * The identity provider that a person signs in through, whose issuer and subject these are; empty for all other
     * identities.
     */
    provider: Generated<string>;
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
   * Codes that give a role on the group `parent`. A code is kept by its SHA-256 in hex alone; `creator` must hold the
   * role when it is accepted.
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
  /** Who accepted an invite when, and the binding it gave. */
  invite_acceptances: { invite: string; identity: string; binding: string; create_time: number };
  /** Codes of deleted invites, until they would have ended. */
  revoked_invites: { code_hash: string; expiration_time: number };
  /** The group `parent` accepted a document of the setting MOORAGE_TERMS_FILE. */
  terms_acceptances: { uid: string; parent: string; doc_id: string; accepted_by: string; create_time: number };
  /** `uid` is the group's own, `parent` the group's parent. The accounts are proto3 JSON, null where there is none. */
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
   * Providers that people sign in through. `client_secret` is sealed, or empty. `additional_scopes` is a JSON list,
   * `correlation_rule` CorrelationRule's number, `default_role` empty for none.
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
    create_time: number;
    update_time: number;
  };
  /** Whoever is in the group at the provider `parent` holds the role on the group `scope`. */
  external_group_role_mappings: {
    uid: string;
    parent: string;
    external_group_id: string;
    role_uid: string;
    scope: string;
    create_time: number;
  };
  /**
   * Browsers that are at a provider. `hash`: SHA-256 of the state, `browser` of the cookie that alone may come back.
   * `content` is sealed: what was asked for, and what must not be known before.
   */
  sign_ins: { hash: string; browser: string; address: string; content: string; expire_time: number };
  /**
   * Authorization codes of ours, by their SHA-256. `caller`: as in refresh_tokens; `family`: of the refresh tokens that
   * the code gave.
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
   * Devices that wait for their person, by the SHA-256 of the device code. `request`: to what the tokens are narrowed,
   * as JSON. `state`: pending, approved, denied or used; identity and caller are empty until it is approved.
   */
  device_codes: {
    hash: string;
    user_code_hash: string;
    client_id: string;
    provider: string;
    request: string;
    address: string;
    user_agent: string;
    state: string;
    identity: string;
    caller: string;
    family: string;
    poll_time: number;
    interval_ms: number;
    expire_time: number;
  };
  /** Browsers that are signed in, by the SHA-256 of their cookie. `caller` as in refresh_tokens. */
  sessions: {
    hash: string;
    identity: string;
    caller: string;
    seen_time: number;
    expire_time: number;
    create_time: number;
  };
  /**
   * What was done or refused, below what it was done to: `parent`, which may be gone. `organization`: the one that
   * parent is in, or empty. `act` and `details` are JSON maps of text, `decision` AuditDecision's number.
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
  /** The names under a parent that groups and repos share. */
  group_names: { parent: string; name: string; uid: string };
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
    /** SyncConfig without its password, and TagPolicy, as proto3 JSON; null where there is none. */
    sync_config: string | null;
    tag_policy: string | null;
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
  };
  /**
   * Every digest a tag came to point to. `reason`: push, api, mirror, promote or rollback; delete or retention (then
   * digest is empty).
   */
  tag_history: { repo: string; tag: string; time: number; digest: string; actor: string; reason: string };
  /** Content the registry holds, once per installation. `generation` distinguishes copies of one digest over time. */
  blobs: { digest: string; generation: string; size: number; create_time: number };
  /** Which repos may serve a blob. `touch_time` as in manifests. */
  repo_blobs: { repo: string; digest: string; create_time: number; touch_time: number };
  manifests: {
    repo: string;
    digest: string;
    media_type: string;
    content: Uint8Array;
    size: number;
    /**
     * Digest this manifest refers to, or empty; what kind of artifact it is; its annotations as JSON, for referrers.
     */
    subject: string;
    artifact_type: string;
    annotations: string;
    create_time: number;
    /**
     * When something last gave a reason to keep it although nothing points to it: its push, another one, the end of
     * what needed it.
     */
    touch_time: number;
  };
  /** What a manifest needs: kind is blob or manifest. The subject is not among them. */
  manifest_references: { repo: string; digest: string; target: string; kind: string };
  uploads: { uid: string; repo: string; identity: string; create_time: number; update_time: number };
  /**
   * Repos with a source, from sync_config. `password` is sealed, or empty. `holder` copies it, until `hold_until`
   * unless it asks for more. `state`: SyncState's number. Times that were not yet are null.
   */
  mirrors: {
    repo: string;
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
   * Events of committed changes that have no number yet, in an order in which what happened after another thing comes
   * after it. `type` without the configured prefix. `parent`: the group it happened in, or empty. `target`: the only
   * subscription it is for, or empty. `actor` and `body` are JSON.
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
  /** Pulls that no event was emitted for yet. `pulls`: a JSON list of them. The ids are in the order of time. */
  pull_notes: { id: string; pulls: string };
  /**
   * Events in the order in which they are read: `seq` counts all, from 1 on, and one that can be seen has none before
   * it that will come later. `number` counts those of the subject. `organization`: the one that `parent` is in, or
   * empty.
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
   * The last number of each subject; of the empty one, the last `seq`; of `gone:<organization>`, the newest `seq` there
   * that was removed for its age. `end_time`: when the subject was deleted.
   */
  event_numbers: { subject: string; number: number; end_time: number | null };
  /**
   * `state`: SubscriptionState's number. The prefixes are JSON lists. The secrets are sealed; `old_secret` may be
   * empty.
   */
  subscriptions: {
    uid: string;
    parent: string;
    sink: string;
    state: number;
    state_reason: string;
    type_prefixes: string;
    subject_prefixes: string;
    secret: string;
    old_secret: string;
    old_secret_expire_time: number | null;
    /** Requests a minute; 0: no limit. `handshake_time`: when the sink was last asked. */
    allowed_rate: number;
    handshake_time: number | null;
    create_time: number;
    update_time: number;
  };
  /** The process that sends for a subscription, and until when unless it asks for more. */
  subscription_leases: { subscription: string; holder: string; until_time: number };
  /**
   * Events on their way to the subscription `parent`. The uid ends in the event's `seq`, 16 hex digits. `state`:
   * DeliveryState's number. `step`: attempts of the running schedule. `next_time`: when it is due; while it is being
   * sent, when it was; null once it has ended. `attempts`: a JSON list of [start ms, latency ms, status, error].
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
   * Who is below whom, with the name to order by: (kind, ancestor, name, uid), strict ancestors, and for groups
   * themselves too.
   */
  ancestry: { kind: string; ancestor: string; name: string; uid: string };
  /** How many resources of a kind are below an ancestor. */
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
  | "repos"
  | "tags"
  | "subscriptions"
  | "deliveries";

export type Row<T extends keyof Tables> = Selectable<Tables[T]>;
