/** One step of the schema. Merged migrations are frozen. */
export interface Migration { version: number; name: string; statements: string[] }

// KEY is text that compares byte by byte on every engine, BYTES the engine's binary type.
export const MIGRATIONS: Migration[] = [
  {
    version: 1,
    name: "first",
    statements: [
      `create table installation (key KEY primary key, value text not null)`,
      `create table signing_keys (kid KEY primary key, algorithm text not null, private_jwk text not null, public_jwk text not null, create_time INT8 not null, retire_time INT8)`,
      `create table refresh_tokens (hash KEY primary key, family KEY not null, identity KEY not null, caller text not null, expire_time INT8 not null, used_time INT8)`,
      `create index refresh_tokens_family on refresh_tokens (family)`,
      `create index refresh_tokens_identity on refresh_tokens (identity)`,
      `create table groups (uid KEY primary key, parent KEY not null, name KEY not null, description text not null, verified INT8 not null, kind INT8 not null, status INT8 not null, resource_limits text not null, create_time INT8 not null, update_time INT8 not null)`,
      `create index groups_parent on groups (parent, name, uid)`,
      `create table identities (uid KEY primary key, parent KEY not null, name KEY not null, description text not null, email KEY not null, email_unverified text not null, company text not null, relationship_type INT8 not null, relationship text not null, issuer KEY not null, subject KEY not null, last_seen_time INT8, create_time INT8 not null, update_time INT8 not null)`,
      `create index identities_parent on identities (parent, name, uid)`,
      `create index identities_subject on identities (issuer, subject)`,
      `create table roles (uid KEY primary key, parent KEY not null, name KEY not null, description text not null, capabilities text not null, create_time INT8 not null, update_time INT8 not null)`,
      `create unique index roles_parent on roles (parent, name)`,
      `create table role_bindings (uid KEY primary key, parent KEY not null, identity_uid KEY not null, role_uid KEY not null, create_time INT8 not null)`,
      `create index role_bindings_identity on role_bindings (identity_uid, parent, role_uid)`,
      `create index role_bindings_role on role_bindings (role_uid)`,
      `create index role_bindings_parent on role_bindings (parent, create_time, uid)`,
      `create table group_names (parent KEY not null, name KEY not null, uid KEY not null, primary key (parent, name)) WITHOUT_ROWID`,
      `create table repos (uid KEY primary key, parent KEY not null, name KEY not null, description text not null, catalog_tier INT8 not null, bundles text not null, readme text not null, aliases text not null, active_tags text not null, sync_config text, create_time INT8 not null, update_time INT8 not null)`,
      `create index repos_parent on repos (parent, name, uid)`,
      `create index repos_name on repos (name, uid)`,
      `create table tags (uid KEY primary key, parent KEY not null, name KEY not null, digest KEY not null, deprecated INT8 not null, bundles text not null, create_time INT8 not null, update_time INT8 not null)`,
      `create unique index tags_parent on tags (parent, name)`,
      `create index tags_digest on tags (parent, digest)`,
      `create table tag_history (repo KEY not null, tag KEY not null, time INT8 not null, digest KEY not null, actor text not null, reason text not null, primary key (repo, tag, time)) WITHOUT_ROWID`,
      `create index tag_history_digest on tag_history (repo, digest, tag)`,
      `create table blobs (digest KEY primary key, generation text not null, size INT8 not null, create_time INT8 not null)`,
      `create table repo_blobs (repo KEY not null, digest KEY not null, create_time INT8 not null, primary key (repo, digest)) WITHOUT_ROWID`,
      `create index repo_blobs_digest on repo_blobs (digest)`,
      `create table manifests (repo KEY not null, digest KEY not null, media_type text not null, content BYTES not null, size INT8 not null, subject KEY not null, artifact_type KEY not null, annotations text not null, create_time INT8 not null, primary key (repo, digest))`,
      `create index manifests_subject on manifests (repo, subject, digest)`,
      `create table manifest_references (repo KEY not null, digest KEY not null, target KEY not null, kind text not null, primary key (repo, digest, target)) WITHOUT_ROWID`,
      `create index manifest_references_target on manifest_references (repo, target, digest)`,
      `create table uploads (uid KEY primary key, repo KEY not null, identity KEY not null, create_time INT8 not null, update_time INT8 not null)`,
      `create table ancestry (kind KEY not null, ancestor KEY not null, name KEY not null, uid KEY not null, primary key (kind, ancestor, name, uid)) WITHOUT_ROWID`,
      `create table counters (kind KEY not null, ancestor KEY not null, n INT8 not null, primary key (kind, ancestor)) WITHOUT_ROWID`,
    ],
  },
  {
    version: 2,
    name: "what is kept, and mirrors",
    statements: [
      `alter table repos add column tag_policy text`,
      // When something last gave a reason to keep the content although nothing points to it: its push, another one, the end of what needed it.
      `alter table manifests add column touch_time INT8 not null default 0`,
      `update manifests set touch_time = create_time`,
      `alter table repo_blobs add column touch_time INT8 not null default 0`,
      `update repo_blobs set touch_time = create_time`,
      `create index tags_update on tags (parent, update_time, uid)`,
      `create index tags_create on tags (parent, create_time)`,
      `drop index tag_history_digest`,
      `create index tag_history_digest on tag_history (repo, digest, tag, time)`,
      `create table mirrors (repo KEY primary key, password text not null, next_time INT8 not null, holder text not null, hold_until INT8 not null, state INT8 not null, message text not null, attempt_time INT8, success_time INT8, tags_seen INT8 not null, manifests_copied INT8 not null, bytes_copied INT8 not null, failures INT8 not null)`,
      `create index mirrors_due on mirrors (next_time)`,
    ],
  },
  {
    version: 3,
    name: "invites, terms and account associations",
    statements: [
      `create table group_invites (uid KEY primary key, parent KEY not null, role_uid KEY not null, email KEY not null, single_use INT8 not null, code_hash KEY not null, key_id KEY not null, creator KEY not null, expiration_time INT8 not null, create_time INT8 not null)`,
      `create unique index group_invites_code on group_invites (code_hash)`,
      `create index group_invites_parent on group_invites (parent, create_time, uid)`,
      `create index group_invites_role on group_invites (role_uid)`,
      `create table invite_acceptances (invite KEY not null, identity KEY not null, binding KEY not null, create_time INT8 not null, primary key (invite, identity)) WITHOUT_ROWID`,
      `create table revoked_invites (code_hash KEY primary key, expiration_time INT8 not null)`,
      `create index revoked_invites_end on revoked_invites (expiration_time)`,
      `create table terms_acceptances (uid KEY primary key, parent KEY not null, doc_id KEY not null, accepted_by KEY not null, create_time INT8 not null)`,
      `create unique index terms_acceptances_parent on terms_acceptances (parent, doc_id)`,
      `create table account_associations (uid KEY primary key, parent KEY not null, name KEY not null, description text not null, amazon text, google text, services text, azure text, github text, create_time INT8 not null, update_time INT8 not null)`,
    ],
  },
];

/** What this program works with. */
export const NEWEST_VERSION = MIGRATIONS.at(-1)?.version ?? 0;
