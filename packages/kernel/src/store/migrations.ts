/** One step of the schema. Migrations never change once they are merged. */
export interface Migration {
  version: number;
  name: string;
  statements: string[];
}

// KEY is text that is compared byte by byte on every engine, BYTES the engine's binary type, SERIAL8 a primary key that
// the engine counts up.
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
      // When there last was a reason to keep the content although nothing points to it: its push, a repeated push, or
      // the end of what needed it.
      `alter table manifests add column touch_time INT8 not null default 0`,
      `update manifests set touch_time = create_time`,
      `alter table repo_blobs add column touch_time INT8 not null default 0`,
      `update repo_blobs set touch_time = create_time`,
      `create index tags_update on tags (parent, update_time, uid)`,
      `create index tags_create on tags (parent, create_time)`,
      `create index tags_name on tags (name, uid)`,
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
  {
    version: 4,
    name: "identity providers",
    statements: [
      `create table identity_providers (uid KEY primary key, parent KEY not null, name KEY not null, description text not null, default_role KEY not null, issuer KEY not null, client_id KEY not null, client_secret text not null, additional_scopes text not null, groups_claim text not null, correlation_rule INT8 not null, pkce_enabled INT8 not null, create_time INT8 not null, update_time INT8 not null)`,
      `create unique index identity_providers_parent on identity_providers (parent, name)`,
      `create index identity_providers_role on identity_providers (default_role)`,
      `create table external_group_role_mappings (uid KEY primary key, parent KEY not null, external_group_id KEY not null, role_uid KEY not null, scope KEY not null, create_time INT8 not null)`,
      `create index external_group_role_mappings_group on external_group_role_mappings (parent, external_group_id)`,
      `create index external_group_role_mappings_role on external_group_role_mappings (role_uid)`,
      `create index external_group_role_mappings_scope on external_group_role_mappings (scope)`,
      `alter table identities add column provider KEY not null default ''`,
      // One person at one provider is one identity. The issuer of one provider can say nothing about a subject of
      // another issuer.
      `create unique index identities_provider on identities (provider, issuer, subject) where provider <> ''`,
    ],
  },
  {
    version: 5,
    name: "sign-in",
    statements: [
      `create table sign_ins (hash KEY primary key, browser KEY not null, address KEY not null, content text not null, expire_time INT8 not null)`,
      `create index sign_ins_address on sign_ins (address, expire_time)`,
      `create index sign_ins_end on sign_ins (expire_time)`,
      `create table authorization_codes (hash KEY primary key, client_id KEY not null, redirect_uri text not null, challenge text not null, identity KEY not null, caller text not null, family KEY not null, used_time INT8, expire_time INT8 not null)`,
      `create index authorization_codes_end on authorization_codes (expire_time)`,
      `create table device_codes (hash KEY primary key, user_code_hash KEY not null, client_id KEY not null, provider KEY not null, request text not null, address KEY not null, user_agent text not null, state KEY not null, identity KEY not null, caller text not null, family KEY not null, poll_time INT8 not null, interval_ms INT8 not null, expire_time INT8 not null)`,
      `create unique index device_codes_user_code on device_codes (user_code_hash)`,
      `create index device_codes_address on device_codes (address, expire_time)`,
      `create index device_codes_end on device_codes (expire_time)`,
      `create table sessions (hash KEY primary key, identity KEY not null, caller text not null, seen_time INT8 not null, expire_time INT8 not null, create_time INT8 not null)`,
      `create index sessions_identity on sessions (identity)`,
      `create index sessions_end on sessions (expire_time)`,
    ],
  },
  {
    version: 6,
    name: "audit log",
    statements: [
      `create table audit_entries (uid KEY primary key, parent KEY not null, organization KEY not null, create_time INT8 not null, identity KEY not null, token_id text not null, act text not null, method KEY not null, decision INT8 not null, code INT8 not null, reason text not null, details text not null, request_id text not null, remote_address text not null, user_agent text not null)`,
      // An organization's entries by time, also to find old ones; then an index for each of the most frequent filters.
      `create index audit_entries_organization on audit_entries (organization, create_time, uid)`,
      `create index audit_entries_identity on audit_entries (identity, create_time, uid)`,
      `create index audit_entries_method on audit_entries (organization, method, create_time, uid)`,
      `create index audit_entries_denied on audit_entries (organization, create_time, uid) where decision = 2`,
    ],
  },
  {
    version: 7,
    name: "events",
    statements: [
      `create table event_outbox (n SERIAL8, id KEY not null, type KEY not null, subject KEY not null, parent KEY not null, target KEY not null, time INT8 not null, actor text not null, body text not null)`,
      `create table events (seq INT8 primary key, id KEY not null, type KEY not null, subject KEY not null, parent KEY not null, organization KEY not null, target KEY not null, number INT8 not null, time INT8 not null, actor text not null, body text not null)`,
      `create unique index events_id on events (id)`,
      `create index events_organization on events (organization, seq)`,
      `create index events_time on events (time, seq)`,
      `create table event_numbers (subject KEY primary key, number INT8 not null, end_time INT8) WITHOUT_ROWID`,
      `create index event_numbers_end on event_numbers (end_time) where end_time is not null`,
      `create table subscriptions (uid KEY primary key, parent KEY not null, sink text not null, state INT8 not null, state_reason text not null, type_prefixes text not null, subject_prefixes text not null, secret text not null, old_secret text not null, old_secret_expire_time INT8, allowed_rate INT8 not null, handshake_time INT8, create_time INT8 not null, update_time INT8 not null)`,
      `create index subscriptions_parent on subscriptions (parent, create_time, uid)`,
      `create table subscription_leases (subscription KEY primary key, holder KEY not null, until_time INT8 not null) WITHOUT_ROWID`,
      `create table deliveries (uid KEY primary key, parent KEY not null, seq INT8 not null, event_id KEY not null, event_type KEY not null, event_subject KEY not null, state INT8 not null, tries INT8 not null, step INT8 not null, last_status INT8 not null, last_error text not null, last_latency_ms INT8 not null, next_time INT8, attempts text not null, create_time INT8 not null, update_time INT8 not null)`,
      // A delivery has a time until it has ended: the index finds what is due and what is being sent for a
      // subscription. Ended deliveries are removed when they are old.
      `create index deliveries_due on deliveries (parent, state, next_time, seq) where next_time is not null`,
      `create index deliveries_ended on deliveries (state, update_time) where next_time is null`,
      `create index deliveries_time on deliveries (parent, create_time, uid)`,
      `create index deliveries_seq on deliveries (seq)`,
      `create index deliveries_event on deliveries (event_id)`,
      // Dead deliveries are few, and clients search for them.
      `create index deliveries_dead on deliveries (parent, create_time, uid) where state = 5`,
    ],
  },
  {
    version: 8,
    name: "pulls",
    statements: [`create table pull_notes (id KEY primary key, pulls text not null)`],
  },
  {
    version: 9,
    name: "numbers of CAP_IAM_AUDIT_LIST and CAP_EVENTS_LIST",
    statements: [
      // 2301 becomes 9001 and 1505 becomes 9002. A role's numbers are sorted and have four digits at most: the new ones
      // are appended, and the old ones, each now followed by another, are removed.
      `update roles set capabilities = replace(capabilities, ']', ',9001]') where capabilities like '%2301%'`,
      `update roles set capabilities = replace(capabilities, ']', ',9002]') where capabilities like '%1505%'`,
      `update roles set capabilities = replace(replace(capabilities, '2301,', ''), '1505,', '')`,
      // Who narrowed a token to one of them signs in again; the digits elsewhere in its text end a narrowed token too.
      ...["refresh_tokens", "sessions", "authorization_codes", "device_codes"].map(
        (table) =>
          `delete from ${table} where caller like '%"capabilities":[%' and (caller like '%2301%' or caller like '%1505%')`,
      ),
    ],
  },
  {
    version: 10,
    name: "architectures of images",
    statements: [
      `alter table manifests add column architecture text`,
      `alter table manifests add column image_size INT8`,
    ],
  },
  {
    version: 11,
    name: "what was never seen, pushes by a tag",
    statements: [
      // What was made by CreateIdentity was seen when it was made, also if it never got a token.
      `update identities set last_seen_time = null where last_seen_time = create_time and provider = ''`,
      `alter table subscriptions add column tagged_only INT8 not null default 0`,
    ],
  },
  {
    version: 12,
    name: "a callback for each identity provider",
    // At the providers that are there, the redirect URI that all shared is registered.
    statements: [`alter table identity_providers add column shared_callback INT8 not null default 1`],
  },
  {
    version: 13,
    name: "creators of identities",
    statements: [
      `alter table identities add column creator KEY not null default ''`,
      `create index identities_creator on identities (creator) where creator <> ''`,
    ],
  },
  {
    version: 14,
    name: "groups and repos of one name",
    statements: [
      // A name was taken by a group or a repo; now by one of each.
      `create unique index groups_name on groups (parent, name)`,
      `create unique index repos_parent_name on repos (parent, name)`,
      `drop table group_names`,
    ],
  },
  {
    version: 15,
    name: "sign-ins and devices by network",
    statements: [
      `alter table sign_ins rename column address to network`,
      `alter table device_codes add column network KEY not null default ''`,
      `drop index device_codes_address`,
      `create index device_codes_network on device_codes (network, expire_time)`,
    ],
  },
  {
    version: 16,
    name: "each mapping once",
    statements: [
      `delete from external_group_role_mappings where exists (select 1 from external_group_role_mappings as o where o.parent = external_group_role_mappings.parent and o.external_group_id = external_group_role_mappings.external_group_id and o.role_uid = external_group_role_mappings.role_uid and o.scope = external_group_role_mappings.scope and o.uid < external_group_role_mappings.uid)`,
      `drop index external_group_role_mappings_group`,
      `create unique index external_group_role_mappings_group on external_group_role_mappings (parent, external_group_id, role_uid, scope)`,
    ],
  },
  {
    version: 17,
    name: "freed names of organizations",
    statements: [
      `create table freed_names (name KEY primary key, uid KEY not null, free_time INT8 not null)`,
      `create index freed_names_time on freed_names (free_time)`,
    ],
  },
  {
    version: 18,
    name: "who set the source of a mirror",
    statements: [`alter table mirrors add column actor KEY not null default ''`],
  },
  {
    version: 19,
    name: "the kind of a subgroup is its organization's",
    statements: [
      `update groups set kind = (select o.kind from groups as o where o.uid = substr(groups.uid, 1, 40)) where parent <> '' and exists (select 1 from groups as o where o.uid = substr(groups.uid, 1, 40))`,
    ],
  },
  {
    version: 20,
    name: "advisories",
    statements: [
      `create table advisories (uid KEY primary key, parent KEY not null, advisory_id KEY not null, author KEY not null, artifact_name KEY not null, artifact_type KEY not null, artifact_architecture KEY not null, component_name KEY not null, component_location KEY not null, component_type KEY not null, aliases KEY not null, legacy_advisory_id KEY not null, severities text not null, origin KEY not null, latest_type INT8 not null, create_time INT8 not null, update_time INT8 not null, delete_time INT8)`,
      `create unique index advisories_id on advisories (advisory_id)`,
      `create index advisories_parent on advisories (parent, create_time, uid)`,
      `create index advisories_artifact on advisories (artifact_name)`,
      `create index advisories_component on advisories (component_name)`,
      `create index advisories_origin on advisories (origin) where origin <> ''`,
      `create index advisories_legacy on advisories (legacy_advisory_id) where legacy_advisory_id <> ''`,
      `create table advisory_events (uid KEY primary key, parent KEY not null, type INT8 not null, content text not null, findings text not null, issue text not null, author KEY not null, reviewer KEY not null, review_state INT8 not null, review_time INT8, create_time INT8 not null)`,
      `create unique index advisory_events_time on advisory_events (parent, create_time)`,
      `create table advisory_aliases (advisory KEY not null, alias KEY not null, subject KEY not null, primary key (advisory, alias)) WITHOUT_ROWID`,
      `create unique index advisory_aliases_subject on advisory_aliases (subject, alias)`,
      `create index advisory_aliases_alias on advisory_aliases (alias, advisory)`,
      `create table advisory_suffixes (organization KEY not null, suffix KEY not null, advisory KEY not null, primary key (organization, suffix, advisory)) WITHOUT_ROWID`,
      `create index advisory_suffixes_advisory on advisory_suffixes (advisory)`,
    ],
  },
  {
    version: 21,
    name: "what images hold",
    statements: [
      `create table image_catalogs (digest KEY primary key, state INT8 not null, backlog INT8 not null, attempts INT8 not null, reason text not null, holder text not null, hold_until INT8 not null, os_id text not null, os_version text not null, os_name text not null, unread text not null, create_time INT8 not null, finish_time INT8)`,
      `create index image_catalogs_waiting on image_catalogs (backlog, create_time, digest) where state = 1`,
      `create table packages (id KEY primary key, ecosystem KEY not null, source_name KEY not null, source_version text not null, purl text not null, name text not null, version text not null, licence text not null)`,
      `create index packages_source on packages (ecosystem, source_name, id)`,
      `create table image_packages (digest KEY not null, source KEY not null, n INT8 not null, package KEY not null, layer text not null, path text not null, reader text not null, primary key (digest, source, n)) WITHOUT_ROWID`,
      `create index image_packages_package on image_packages (package, digest)`,
      // By which repos a digest is held, and with it its catalog.
      `create index manifests_digest on manifests (digest, repo)`,
      `insert into image_catalogs (digest, state, backlog, attempts, reason, holder, hold_until, os_id, os_version, os_name, unread, create_time) select digest, 1, 1, 0, '', '', 0, '', '', '', '[]', min(create_time) from manifests where artifact_type in ('application/vnd.oci.image.config.v1+json', 'application/vnd.docker.container.image.v1+json') group by digest`,
    ],
  },
  {
    version: 22,
    name: "feeds",
    statements: [
      `create table feeds (name KEY primary key, format KEY not null, address text not null, licence text not null, interval_ms INT8 not null, products text not null, origin KEY not null, run KEY not null, etag text not null, last_modified text not null, newest INT8, records INT8 not null, withdrawn INT8 not null, problems INT8 not null, attempt_time INT8, success_time INT8, full_time INT8, duration_ms INT8, error text not null, create_time INT8 not null)`,
      `create table feed_records (feed KEY not null, id KEY not null, modified INT8 not null, withdrawn INT8, removed INT8 not null, hash KEY not null, severity KEY not null, score_tenths INT8, body text not null, change INT8 not null, primary key (feed, id))`,
      // A reader of changes goes on after the last number that it has seen.
      `create unique index feed_records_change on feed_records (change)`,
      `create table feed_keys (kind KEY not null, key KEY not null, feed KEY not null, record KEY not null, primary key (kind, key, feed, record)) WITHOUT_ROWID`,
      `create index feed_keys_record on feed_keys (feed, record)`,
      `create table feed_problems (feed KEY not null, n INT8 not null, record KEY not null, position text not null, message text not null, primary key (feed, n)) WITHOUT_ROWID`,
      `create table feed_changes (name KEY primary key, value INT8 not null)`,
    ],
  },
  {
    version: 23,
    name: "findings of packages",
    statements: [
      `alter table packages add column matched INT8`,
      `create index packages_unmatched on packages (id) where matched is null`,
      `create index packages_name on packages (name)`,
      `create index packages_source_name on packages (source_name)`,
      `create table package_keys (key KEY not null, package KEY not null, version text not null, primary key (key, package)) WITHOUT_ROWID`,
      `create index package_keys_package on package_keys (package)`,
      `create table package_findings (package KEY not null, feed KEY not null, record KEY not null, change INT8 not null, modified INT8 not null, opened INT8 not null, since INT8 not null, closed INT8, reason_opened KEY not null, reason_closed KEY not null, state KEY not null, fixed text not null, last_affected text not null, primary key (package, feed, record, opened, change)) WITHOUT_ROWID`,
      `create index package_findings_record on package_findings (feed, record, package)`,
      `create table matching (name KEY primary key, value INT8 not null, position text not null)`,
    ],
  },
  {
    version: 26,
    name: "aliases of repos",
    statements: [
      // Most repos have none.
      `create index repos_aliased on repos (parent, uid) where aliases <> '[]'`,
    ],
  },
  {
    version: 27,
    name: "documents of packages",
    statements: [
      // The name of the package in a key such as debian:12/openssl.
      `create index feed_keys_package on feed_keys (substr(key, instr(key, '/') + 1), feed, record) where kind = 'package'`,
      `create index advisories_document on advisories ((case when origin = '' then artifact_name else origin end), uid) where delete_time is null and latest_type <> 0`,
    ],
  },
  {
    version: 28,
    name: "what is attached to images",
    statements: [
      `create table attachment_checks (id KEY primary key, repo KEY not null, digest KEY not null, backlog INT8 not null, create_time INT8 not null)`,
      `create index attachment_checks_due on attachment_checks (backlog, create_time, id)`,
      `create index attachment_checks_digest on attachment_checks (repo, digest)`,
      `create table attachments (repo KEY not null, subject KEY not null, manifest KEY not null, via KEY not null, from_time INT8 not null, until_time INT8, primary key (repo, subject, manifest, from_time)) WITHOUT_ROWID`,
      `create index attachments_manifest on attachments (repo, manifest)`,
      `create index attachments_via on attachments (repo, via) where via <> ''`,
      `create index attachments_reading on attachments (subject, manifest)`,
      `create table attached_readings (subject KEY not null, manifest KEY not null, state INT8 not null, attempts INT8 not null, reason text not null, holder KEY not null, hold_until INT8 not null, create_time INT8 not null, finish_time INT8, primary key (subject, manifest)) WITHOUT_ROWID`,
      `create index attached_readings_waiting on attached_readings (create_time, subject, manifest) where state = 1`,
      `create table attached_documents (subject KEY not null, manifest KEY not null, n INT8 not null, layer KEY not null, media_type text not null, kind KEY not null, reason text not null, time INT8 not null, packages INT8 not null, primary key (subject, manifest, n)) WITHOUT_ROWID`,
      `insert into attachment_checks (id, repo, digest, backlog, create_time) select repo || '/' || subject, repo, subject, 1, min(create_time) from manifests where subject <> '' group by repo, subject`,
      `insert into attachment_checks (id, repo, digest, backlog, create_time) select repo || '/' || digest || '/index', repo, digest, 1, create_time from manifests where media_type in ('application/vnd.oci.image.index.v1+json', 'application/vnd.docker.distribution.manifest.list.v2+json')`,
      `insert into attachment_checks (id, repo, digest, backlog, create_time) select uid, parent, 'sha256:' || substr(name, 8, 64), 1, create_time from tags where name like 'sha256-%.sbom' or name like 'sha256-%.att'`,
    ],
  },
  {
    version: 29,
    name: "statements about vulnerabilities that are attached to images",
    statements: [
      `alter table attached_documents add column statements INT8 not null default 0`,
      `alter table attached_documents add column document_id text not null default ''`,
      `alter table attached_documents add column author text not null default ''`,
      `create table attached_statements (subject KEY not null, manifest KEY not null, n INT8 not null, i INT8 not null, ids text not null, status KEY not null, justification KEY not null, impact text not null, target text not null, product text not null, time INT8 not null, primary key (subject, manifest, n, i)) WITHOUT_ROWID`,
      // What was passed over before is read for its statements; what counts as an SBOM goes on counting.
      `update attached_readings set state = 1, attempts = 0, finish_time = null where state <> 1 and not exists (select 1 from attached_documents as d where d.subject = attached_readings.subject and d.manifest = attached_readings.manifest and d.packages > 0)`,
    ],
  },
  {
    version: 30,
    name: "products of repos",
    statements: [`alter table repos add column product text`],
  },
  {
    version: 31,
    name: "scanners",
    statements: [
      `create table scanners (uid KEY primary key, parent KEY not null, name KEY not null, description text not null, url text not null, credential text not null, disabled INT8 not null, adapter text, check_time INT8, identity KEY not null, create_time INT8 not null, update_time INT8 not null)`,
      `create unique index scanners_name on scanners (parent, name)`,
      `create table scans (uid KEY primary key, parent KEY not null, scanner KEY not null, scanner_name text not null, digest KEY not null, type INT8 not null, state INT8 not null, reason text not null, attempts INT8 not null, holder KEY not null, hold_until INT8 not null, software text, counts text, report_mime_type text not null, report_size INT8 not null, request_time INT8 not null, start_time INT8, report_time INT8)`,
      `create unique index scans_image on scans (parent, digest, scanner, type)`,
      `create index scans_digest on scans (digest)`,
      `create index scans_scanner on scans (scanner, uid)`,
      `create index scans_time on scans (parent, request_time, uid)`,
      // States 1 and 2 are those of scans that are to be done.
      `create index scans_due on scans (scanner, hold_until, uid) where state < 3`,
      `create table scan_reports (scan KEY primary key, content BYTES not null)`,
    ],
  },
  {
    version: 32,
    name: "what advisories say, and since when",
    statements: [
      `create table advisory_decisions (advisory KEY not null, from_time INT8 not null, until_time INT8, event KEY not null, event_time INT8 not null, type INT8 not null, content text not null, advisory_id KEY not null, artifact_name KEY not null, artifact_type KEY not null, artifact_architecture KEY not null, component_name KEY not null, component_location KEY not null, component_type KEY not null, primary key (advisory, from_time)) WITHOUT_ROWID`,
      `create table advisory_decision_ids (parent KEY not null, alias KEY not null, advisory KEY not null, from_time INT8 not null, primary key (parent, alias, advisory, from_time)) WITHOUT_ROWID`,
      `create index advisory_decision_ids_advisory on advisory_decision_ids (advisory, from_time)`,
      `insert into advisory_decisions (advisory, from_time, until_time, event, event_time, type, content, advisory_id, artifact_name, artifact_type, artifact_architecture, component_name, component_location, component_type) select a.uid, coalesce(e.review_time, e.create_time), null, e.uid, e.create_time, e.type, e.content, a.advisory_id, a.artifact_name, a.artifact_type, a.artifact_architecture, a.component_name, a.component_location, a.component_type from advisories as a join advisory_events as e on e.parent = a.uid and e.review_state = 2 where a.delete_time is null and not exists (select 1 from advisory_events as l where l.parent = e.parent and l.review_state = 2 and l.create_time > e.create_time)`,
      `insert into advisory_decision_ids (parent, alias, advisory, from_time) select a.parent, x.alias, d.advisory, d.from_time from advisory_decisions as d join advisories as a on a.uid = d.advisory join advisory_aliases as x on x.advisory = d.advisory`,
    ],
  },
  {
    version: 33,
    name: "vulnerability gates",
    statements: [
      `create table gate_events (repo KEY not null, digest KEY not null, action KEY not null, mode KEY not null, findings KEY not null, time INT8 not null, primary key (repo, digest, action)) WITHOUT_ROWID`,
      `create index gate_events_time on gate_events (time)`,
      // Most repos have none, and each pull asks for it.
      `create index repos_policies on repos (uid) where tag_policy is not null`,
      // Whether an advisory of a group has changed.
      `create index advisories_updated on advisories (parent, update_time)`,
    ],
  },
  {
    version: 34,
    name: "events of findings",
    statements: [
      `create table finding_causes (id KEY primary key, kind KEY not null, subject text not null, scope KEY not null, position KEY not null, create_time INT8 not null)`,
      `create index finding_causes_due on finding_causes (create_time, id)`,
      `create table finding_checks (digest KEY not null, repo KEY not null, mark KEY not null, create_time INT8 not null, primary key (digest, repo)) WITHOUT_ROWID`,
      `create table finding_notices (repo KEY not null, digest KEY not null, open text not null, update_time INT8 not null, primary key (repo, digest)) WITHOUT_ROWID`,
    ],
  },
  {
    version: 35,
    name: "scanners that are asked only on request",
    statements: [`alter table scanners add column on_request_only INT8 not null default 0`],
  },
  {
    version: 36,
    name: "packages that scanners report",
    statements: [`alter table scans add column packages INT8 not null default 0`],
  },
  {
    version: 37,
    name: "what feeds of VEX documents state",
    statements: [
      `create table feed_statements (feed KEY not null, record KEY not null, n INT8 not null, from_time INT8 not null, until_time INT8, since INT8 not null, hash KEY not null, ids text not null, status KEY not null, justification KEY not null, impact text not null, product text not null, component text not null, key KEY not null, author text not null, time INT8 not null, primary key (feed, record, n)) WITHOUT_ROWID`,
      `create table feed_statement_keys (key KEY not null, vulnerability KEY not null, feed KEY not null, record KEY not null, n INT8 not null, primary key (key, vulnerability, feed, record, n)) WITHOUT_ROWID`,
      `alter table feeds add column restate KEY not null default ''`,
      `update feeds set restate = 'first' where products <> '[]'`,
    ],
  },
  {
    version: 38,
    name: "names of sessions, and links to sign in with",
    statements: [
      // A session without a uid could not be listed or ended by one. Each lasts twelve hours at most: people sign in
      // again.
      `delete from sessions`,
      `alter table sessions add column uid KEY not null default ''`,
      `alter table sessions add column network KEY not null default ''`,
      `alter table sessions add column user_agent text not null default ''`,
      `create index sessions_uid on sessions (uid)`,
      `alter table refresh_tokens add column create_time INT8 not null default 0`,
      `alter table refresh_tokens add column seen_time INT8 not null default 0`,
      `create table sign_in_links (hash KEY primary key, identity KEY not null, caller text not null, create_time INT8 not null, expire_time INT8 not null)`,
      `create index sign_in_links_identity on sign_in_links (identity)`,
      `create index sign_in_links_end on sign_in_links (expire_time)`,
    ],
  },
  {
    version: 39,
    name: "search",
    statements: [
      // Most manifests have no annotations.
      `create index manifests_annotated on manifests (repo, digest) where annotations <> '{}'`,
    ],
  },
  {
    version: 40,
    name: "labels of images",
    statements: [
      `alter table manifests add column labels text not null default '{}'`,
      `drop index manifests_annotated`,
      `create index manifests_labelled on manifests (repo, digest) where annotations <> '{}' or labels <> '{}'`,
    ],
  },
  {
    version: 41,
    name: "libraries",
    statements: [
      `create table artifacts (uid KEY primary key, parent KEY not null, ecosystem INT8 not null, name KEY not null, normalized KEY not null, description text not null, latest_version KEY not null, version_count INT8 not null, size_bytes INT8 not null, revision INT8 not null, state text not null, create_time INT8 not null, update_time INT8 not null)`,
      `create unique index artifacts_name on artifacts (parent, ecosystem, normalized)`,
      `create table artifact_words (organization KEY not null, ecosystem INT8 not null, word KEY not null, artifact KEY not null, primary key (organization, ecosystem, word, artifact)) WITHOUT_ROWID`,
      `create index artifact_words_artifact on artifact_words (artifact)`,
      `create table artifact_versions (uid KEY primary key, parent KEY not null, version KEY not null, sort_key KEY not null, description text not null, size_bytes INT8 not null, origin INT8 not null, cuda KEY not null, yanked text, deprecated text, metadata text not null, publisher KEY not null, publish_time INT8 not null, create_time INT8 not null, update_time INT8 not null)`,
      `create unique index artifact_versions_version on artifact_versions (parent, version)`,
      `create index artifact_versions_order on artifact_versions (parent, sort_key, uid)`,
      // Most versions are not built for a version of CUDA.
      `create index artifact_versions_cuda on artifact_versions (cuda, parent) where cuda <> ''`,
      `create table artifact_files (artifact KEY not null, name KEY not null, version KEY not null, size INT8 not null, digest KEY not null, md5 text not null, sha1 text not null, sha512 text not null, metadata text not null, create_time INT8 not null, primary key (artifact, name)) WITHOUT_ROWID`,
      `create index artifact_files_version on artifact_files (artifact, version)`,
      `create index artifact_files_digest on artifact_files (digest)`,
      `create table removed_versions (parent KEY not null, ecosystem INT8 not null, name KEY not null, version KEY not null, create_time INT8 not null, primary key (parent, ecosystem, name, version)) WITHOUT_ROWID`,
    ],
  },
  {
    version: 42,
    name: "upstreams of libraries",
    statements: [
      `create table upstreams (uid KEY primary key, parent KEY not null, ecosystem INT8 not null, description text not null, url text not null, username text not null, credential text not null, reserved_names text not null, merged_names text not null, disabled INT8 not null, last_success_time INT8, last_error text not null, last_error_time INT8, create_time INT8 not null, update_time INT8 not null)`,
      `create unique index upstreams_ecosystem on upstreams (parent, ecosystem)`,
      `create table upstream_documents (upstream KEY not null, name KEY not null, url text not null, status INT8 not null, revision KEY not null, etag text not null, last_modified text not null, fetch_time INT8 not null, check_time INT8 not null, size INT8 not null, content BYTES not null, primary key (upstream, name))`,
      // What has not been asked for in a long time is removed.
      `create index upstream_documents_checked on upstream_documents (check_time)`,
      `create table upstream_fetches (id KEY primary key, holder KEY not null, hold_until INT8 not null)`,
    ],
  },
  {
    version: 43,
    name: "policies of libraries, and what they block",
    statements: [
      `create table artifact_policies (uid KEY primary key, parent KEY not null, ecosystem INT8 not null, description text not null, mode INT8 not null, cooldown text, block_malware INT8 not null, blocked_purls text not null, allowed_purls text not null, allowed_licenses text not null, denied_licenses text not null, unknown_license INT8 not null, hash KEY not null, create_time INT8 not null, update_time INT8 not null)`,
      `create unique index artifact_policies_ecosystem on artifact_policies (parent, ecosystem)`,
      `create table artifact_blocks (uid KEY primary key, parent KEY not null, organization KEY not null, ecosystem INT8 not null, name KEY not null, version KEY not null, identity KEY not null, reason INT8 not null, detail text not null, mode INT8 not null, count INT8 not null, first_time INT8 not null, last_time INT8 not null, open_time INT8)`,
      `create unique index artifact_blocks_once on artifact_blocks (parent, ecosystem, name, version, identity, reason, mode)`,
      `create index artifact_blocks_time on artifact_blocks (parent, last_time, uid)`,
      `create index artifact_blocks_last on artifact_blocks (organization, last_time, uid)`,
    ],
  },
  {
    version: 44,
    name: "libraries by their names",
    statements: [
      // Which groups have the library that a record is about.
      `create index artifacts_normalized on artifacts (ecosystem, normalized, uid)`,
    ],
  },
  {
    version: 45,
    name: "policies of repos are a right of their own",
    statements: [
      // Roles of users that may update repos (1604) may change policies still. A role's numbers are sorted and have
      // four digits at most; the new one is the greatest. Built-in roles are written anew at each start.
      `update roles set capabilities = replace(capabilities, ']', ',9014]') where parent <> '' and capabilities like '%1604%' and capabilities not like '%9014%'`,
    ],
  },
  {
    version: 46,
    name: "who attached documents to images",
    statements: [
      `alter table manifests add column pushed_by KEY not null default ''`,
      `alter table manifests add column may_advise INT8 not null default 0`,
      `alter table tags add column moved_by KEY not null default ''`,
      `alter table tags add column may_advise INT8 not null default 0`,
      // What was attached before is on nobody's word: it is a claim until it is attached again.
      `alter table attachments add column attached_by KEY not null default ''`,
      `alter table attachments add column trusted INT8 not null default 0`,
    ],
  },
  {
    version: 47,
    name: "copies of blobs that are missing or damaged",
    statements: [`alter table blobs add column suspect_time INT8`],
  },
  {
    version: 48,
    name: "processes that serve",
    statements: [
      `create table processes (id KEY primary key, version text not null, schema INT8 not null, until_time INT8 not null) WITHOUT_ROWID`,
    ],
  },
  {
    version: 49,
    name: "names of libraries whatever their case",
    statements: [
      // A name that differs from one of the group in upper case alone is not asked for at an upstream.
      `create index artifacts_spelled on artifacts (parent, ecosystem, lower(normalized))`,
      `create index removed_versions_spelled on removed_versions (parent, ecosystem, lower(name))`,
    ],
  },
  {
    version: 50,
    name: "what records of distributions are about",
    statements: [
      // The next update of these feeds reads all records, so that those with "upstream" are found by it.
      `update feeds set etag = '', last_modified = '', newest = null, full_time = null where format = 'osv'`,
    ],
  },
  {
    version: 51,
    name: "groups of people that are too many for a token",
    statements: [
      `create table sign_in_groups (uid KEY primary key, identity KEY not null, provider KEY not null, external_groups text not null, expire_time INT8 not null) WITHOUT_ROWID`,
      `create index sign_in_groups_of on sign_in_groups (identity, expire_time)`,
      `alter table identities add column groups_left_out text not null default ''`,
    ],
  },
  {
    version: 52,
    name: "one form of package URLs",
    statements: [
      // A plus stands in their versions alone; everywhere else it was encoded before.
      `update packages set purl = replace(purl, '+', '%2B') where purl like '%+%'`,
      // Purls have names of npm in lower case, and some old packages do not: these are found by this index, and
      // compared once more, by the name that they have.
      `create index packages_with_capitals on packages (lower(name)) where ecosystem = 'npm' and name <> lower(name)`,
      `update packages set matched = null where ecosystem = 'npm' and name <> lower(name)`,
      // Compared once more: what names its release by a code name, and local versions of Python.
      `update packages set matched = null where (ecosystem like 'deb/%' or ecosystem like 'apk/%' or ecosystem like 'rpm/%') and not exists (select 1 from package_keys as k where k.package = packages.id)`,
      `update packages set matched = null where ecosystem = 'pypi' and version like '%+%'`,
      // Statements of feeds are found by keys in the new form, products of feeds of dates of end of life as well.
      `update feeds set restate = 'purls' where products <> '[]'`,
      `update feeds set etag = '', last_modified = '' where format = 'endoflife'`,
    ],
  },
  {
    version: 53,
    name: "Java archives that are not identified",
    statements: [
      `create table image_archives (digest KEY not null, source KEY not null, n INT8 not null, clues text not null, primary key (digest, source, n)) WITHOUT_ROWID`,
      `create table image_archive_names (artifact KEY not null, digest KEY not null, source KEY not null, n INT8 not null, primary key (artifact, digest, source, n)) WITHOUT_ROWID`,
      `create index image_archive_names_of on image_archive_names (digest, source, n)`,
      // The name of the artifact in a key such as maven/org.dom4j:dom4j.
      `create index feed_keys_artifact on feed_keys (substr(key, instr(key, ':') + 1), key) where kind = 'package' and key >= 'maven/' and key < 'maven0'`,
    ],
  },
  {
    version: 54,
    name: "what feeds cover, and what of them matches nothing",
    statements: [
      // Null until the next import that reads all of the feed, for which it is fetched as a whole.
      `alter table feeds add column coverage text`,
      `alter table feeds add column unmatched INT8`,
      `alter table feeds add column request_time INT8`,
      `alter table feed_problems add column kind text not null default 'UNREADABLE'`,
      `update feeds set etag = '', last_modified = '', newest = null, full_time = null`,
    ],
  },
  {
    version: 55,
    name: "statements that are about nothing, and what can be done about vulnerabilities",
    statements: [
      `alter table attached_statements add column remedies text not null default '[]'`,
      `alter table feed_statements add column remedies text not null default '[]'`,
      `alter table attached_documents add column passed_over INT8 not null default 0`,
      `create table attached_passed_over (subject KEY not null, manifest KEY not null, n INT8 not null, i INT8 not null, ids text not null, status KEY not null, product text not null, reason text not null, primary key (subject, manifest, n, i)) WITHOUT_ROWID`,
      `create table attached_refs (subject KEY not null, manifest KEY not null, n INT8 not null, ref KEY not null, purl text not null, primary key (subject, manifest, n, ref)) WITHOUT_ROWID`,
      `alter table feeds add column statements INT8 not null default 0`,
      `alter table feeds add column statements_unmatched INT8 not null default 0`,
      `create table feed_unmatched (feed KEY not null, n INT8 not null, record KEY not null, ids text not null, status KEY not null, product text not null, reason text not null, primary key (feed, n)) WITHOUT_ROWID`,
      // What was rejected before is read again; what counts goes on counting.
      `update attached_readings set state = 1, attempts = 0, finish_time = null where state = 2 and exists (select 1 from attached_documents as d where d.subject = attached_readings.subject and d.manifest = attached_readings.manifest and d.reason <> '')
        and not exists (select 1 from attached_documents as d where d.subject = attached_readings.subject and d.manifest = attached_readings.manifest and (d.packages > 0 or d.statements > 0))`,
      // What documents say is looked at again, and the next update of their feeds reads all of them.
      `update feeds set restate = 'version 55' where restate = '' and format in ('openvex', 'csaf-vex', 'cyclonedx-vex')`,
      `update feeds set etag = '', last_modified = '', full_time = null where format in ('openvex', 'csaf-vex', 'cyclonedx-vex')`,
    ],
  },
  {
    version: 56,
    name: "ecosystems that readers of images and records of feeds did not have",
    statements: [
      // By which version of the readers an image was read, and how often it was attempted since to read it by others.
      `alter table image_catalogs add column readers INT8 not null default 0`,
      `alter table image_catalogs add column rereads INT8 not null default 0`,
      `create index image_catalogs_readers on image_catalogs (readers, create_time, digest) where state = 2`,
      // Packages that attached documents named get their keys, and records of the next update of their feeds.
      `update packages set matched = null where ecosystem in ('composer', 'gem', 'nuget', 'hex', 'cran', 'pub', 'swift')`,
      `update feeds set etag = '', last_modified = '', newest = null, full_time = null where format = 'osv'`,
    ],
  },
  {
    version: 57,
    name: "images of which not all is known, found by an index",
    statements: [
      `alter table image_catalogs add column incomplete INT8 not null default 0`,
      // Entries of a kind are Java archives that were read and not identified.
      `update image_catalogs set incomplete = 1 where state = 2 and ((unread <> '[]'
        and length(replace(unread, '"path":', '')) < length(replace(unread, '"kind":', '')))
        or not exists (select 1 from image_packages as i where i.digest = image_catalogs.digest and i.source = 'layers'))`,
      `create index image_catalogs_unknown on image_catalogs (digest) where (state <> 2 or incomplete = 1)`,
    ],
  },
  {
    version: 58,
    name: "feeds that are being removed, and what feeds cover by the word of who set them",
    statements: [
      `alter table feeds add column delete_time INT8`,
      `alter table feeds add column covers text not null default '[]'`,
    ],
  },
  {
    version: 59,
    name: "personal tokens",
    statements: [
      `create table personal_tokens (uid KEY primary key, hash KEY not null, identity KEY not null, name text not null, capabilities text not null, scopes text not null, hint text not null, create_time INT8 not null, expiration_time INT8 not null, last_used_time INT8 not null)`,
      `create unique index personal_tokens_hash on personal_tokens (hash)`,
      `create index personal_tokens_identity on personal_tokens (identity, create_time)`,
    ],
  },
  {
    version: 60,
    name: "by which version of the readers attached documents were read",
    statements: [
      `alter table attached_readings add column readers INT8 not null default 0`,
      `alter table attached_readings add column rereads INT8 not null default 0`,
      `create index attached_readings_readers on attached_readings (readers, create_time, subject, manifest) where state = 2`,
    ],
  },
  {
    version: 61,
    name: "accounts that the installation keeps",
    statements: [
      `create table accounts (identity KEY primary key, provider KEY not null, name KEY not null, handle KEY not null, password text not null, totp text not null, totp_step INT8 not null, networks text not null, create_time INT8 not null, update_time INT8 not null)`,
      `create unique index accounts_name on accounts (provider, name)`,
      `create table passkeys (id KEY primary key, identity KEY not null, key_id KEY not null, name text not null, public_key text not null, sign_count INT8 not null, rp_id KEY not null, transports text not null, create_time INT8 not null, used_time INT8)`,
      `create unique index passkeys_identity on passkeys (identity, key_id)`,
      `create table recovery_codes (identity KEY not null, hash KEY not null, primary key (identity, hash)) WITHOUT_ROWID`,
      `create table recovery_links (hash KEY primary key, identity KEY not null, creator KEY not null, create_time INT8 not null, expire_time INT8 not null)`,
      `create index recovery_links_identity on recovery_links (identity)`,
      `create index recovery_links_end on recovery_links (expire_time)`,
      `create table known_browsers (hash KEY primary key, identity KEY not null, create_time INT8 not null, expire_time INT8 not null)`,
      `create index known_browsers_identity on known_browsers (identity)`,
      `create index known_browsers_end on known_browsers (expire_time)`,
      // When the person of a session last proved an account in it; 0 in sessions that began otherwise.
      `alter table sessions add column account_time INT8 not null default 0`,
      `alter table identity_providers add column second_factor INT8 not null default 0`,
    ],
  },
  {
    version: 62,
    name: "uploads that nothing is stored of until their first bytes",
    statements: [`create table ended_uploads (uid KEY primary key) WITHOUT_ROWID`],
  },
  {
    version: 63,
    name: "signers, and what signatures are worth",
    statements: [
      `create table signers (uid KEY primary key, parent KEY not null, name KEY not null, description text not null, keys text not null, keyless text, x509 text, require_log INT8 not null, times text not null, version KEY not null, create_time INT8 not null, update_time INT8 not null)`,
      `create unique index signers_name on signers (parent, name)`,
      `create table signer_checks (signer KEY primary key, parent KEY not null, repo KEY not null, subject KEY not null, manifest KEY not null, create_time INT8 not null) WITHOUT_ROWID`,
      `create table signature_roots (name KEY primary key, hash KEY not null) WITHOUT_ROWID`,
      `create table signature_checks (id KEY primary key, repo KEY not null, digest KEY not null, backlog INT8 not null, create_time INT8 not null)`,
      `create index signature_checks_due on signature_checks (backlog, create_time, id)`,
      `create index signature_checks_digest on signature_checks (repo, digest)`,
      `create table signature_sources (repo KEY not null, subject KEY not null, manifest KEY not null, via KEY not null, from_time INT8 not null, until_time INT8, attached_by KEY not null, primary key (repo, subject, manifest, from_time)) WITHOUT_ROWID`,
      `create index signature_sources_manifest on signature_sources (repo, manifest)`,
      `create index signature_sources_reading on signature_sources (subject, manifest)`,
      `create table signature_readings (subject KEY not null, manifest KEY not null, state INT8 not null, attempts INT8 not null, reason text not null, holder KEY not null, hold_until INT8 not null, create_time INT8 not null, finish_time INT8, first_time INT8, signers text not null, readers INT8 not null, primary key (subject, manifest)) WITHOUT_ROWID`,
      `create index signature_readings_waiting on signature_readings (create_time, subject, manifest) where state = 1`,
      `create table signature_entries (subject KEY not null, manifest KEY not null, n INT8 not null, format INT8 not null, predicate_type text not null, identity text not null, signed_time INT8, time_source INT8 not null, code INT8 not null, reason text not null, primary key (subject, manifest, n)) WITHOUT_ROWID`,
      `create table signature_verdicts (subject KEY not null, manifest KEY not null, n INT8 not null, signer KEY not null, from_time INT8 not null, until_time INT8, state INT8 not null, code INT8 not null, reason text not null, fingerprint KEY not null, primary key (subject, manifest, n, signer, from_time)) WITHOUT_ROWID`,
      `create index signature_verdicts_signer on signature_verdicts (signer, state)`,
      `insert into signature_checks (id, repo, digest, backlog, create_time) select repo || '/' || subject, repo, subject, 1, min(create_time) from manifests where subject <> '' group by repo, subject`,
      `insert into signature_checks (id, repo, digest, backlog, create_time) select uid, parent, 'sha256:' || substr(name, 8, 64), 1, create_time from tags where name like 'sha256-%.sig' or name like 'sha256-%.att'`,
    ],
  },
  {
    version: 64,
    name: "mails that the server sends",
    statements: [
      `create table mails (uid KEY primary key, purpose KEY not null, subject KEY not null, organization KEY not null, sender KEY not null, address text not null, address_key KEY not null, content text not null, state INT8 not null, reason text not null, attempts INT8 not null, holder text not null, hold_until INT8 not null, create_time INT8 not null, expire_time INT8 not null, end_time INT8)`,
      `create index mails_due on mails (hold_until, uid) where state = 1`,
      `create index mails_subject on mails (subject, create_time)`,
      `create index mails_sender on mails (sender, create_time)`,
      `create index mails_organization on mails (organization, create_time)`,
      `create index mails_time on mails (create_time)`,
    ],
  },
  {
    version: 65,
    name: "which signatures images need",
    statements: [
      `create table signature_policies (uid KEY primary key, parent KEY not null, name KEY not null, description text not null, mode INT8 not null, actions text not null, repo_pattern text not null, tag_pattern text not null, each_platform INT8 not null, rules text not null, since INT8, hold_tags INT8 not null, document_signers text not null, create_time INT8 not null, update_time INT8 not null)`,
      `create unique index signature_policies_name on signature_policies (parent, name)`,
      `create table signature_exemptions (uid KEY primary key, parent KEY not null, repo KEY not null, digest KEY not null, tag KEY not null, reason text not null, expire_time INT8 not null, creator KEY not null, create_time INT8 not null)`,
      `create index signature_exemptions_parent on signature_exemptions (parent, repo, expire_time)`,
      `create index signature_exemptions_repo on signature_exemptions (repo, digest)`,
      `create table signature_policy_changes (parent KEY primary key, value INT8 not null) WITHOUT_ROWID`,
      `create table signature_gate_events (repo KEY not null, digest KEY not null, action KEY not null, mode KEY not null, hash KEY not null, time INT8 not null, primary key (repo, digest, action)) WITHOUT_ROWID`,
      `create index signature_gate_events_time on signature_gate_events (time)`,
      // Those that somebody waits for come first.
      `alter table signature_readings add column urgent INT8 not null default 0`,
      `create index signature_readings_urgent on signature_readings (create_time, subject, manifest) where state = 1 and urgent = 1`,
    ],
  },
  {
    version: 66,
    name: "quotas, and repos that are not to be used any longer",
    statements: [
      `create table quotas (uid KEY primary key, parent KEY not null, bytes INT8, repos INT8, tags INT8, libraries INT8, soft_percent INT8 not null, used_bytes INT8 not null, counted_to KEY not null, state INT8 not null, create_time INT8 not null, update_time INT8 not null)`,
      `create table quota_refs (quota KEY not null, digest KEY not null, size INT8 not null, n INT8 not null, primary key (quota, digest)) WITHOUT_ROWID`,
      `create index quotas_uncounted on quotas (uid) where counted_to < '9'`,
      `alter table repos add column deprecation text`,
      `create index repos_deprecated on repos (uid) where deprecation is not null`,
    ],
  },
  {
    version: 67,
    name: "statistics of pulls",
    statements: [
      `create table pull_days (day INT8 not null, repo KEY not null, tag KEY not null, digest KEY not null, identity KEY not null, count INT8 not null, bytes INT8 not null, first_time INT8 not null, last_time INT8 not null, primary key (repo, day, digest, tag, identity)) WITHOUT_ROWID`,
      `create index pull_days_day on pull_days (day, repo)`,
      `create index pull_days_digest on pull_days (digest, repo, day)`,
      `create table last_pulls (repo KEY not null, digest KEY not null, time INT8 not null, identity KEY not null, primary key (repo, digest)) WITHOUT_ROWID`,
      `create index last_pulls_time on last_pulls (time)`,
      `create table running_images (repo KEY not null, digest KEY not null, source KEY not null, identity KEY not null, time INT8 not null, primary key (repo, digest, source)) WITHOUT_ROWID`,
      `create index running_images_time on running_images (time)`,
      // Since when pulls are counted, in one row; the processes that count; and days of which pulls are missing.
      `create table pull_coverage (id INT8 primary key, since INT8 not null)`,
      `create table pull_counters (id KEY primary key, time INT8 not null, until_time INT8 not null)`,
      `create table pull_gaps (day INT8 primary key, pulls INT8 not null)`,
      `alter table tags add column last_pull_time INT8`,
      `alter table identities add column uncounted INT8 not null default 0`,
    ],
  },
  {
    version: 68,
    name: "usage of groups by day, and labels of their cost",
    statements: [
      `create table usage_days (grp KEY not null, day INT8 not null, bytes INT8 not null, at_least INT8 not null, time INT8 not null, primary key (grp, day)) WITHOUT_ROWID`,
      `create index usage_days_day on usage_days (day, grp)`,
      `alter table groups add column cost_labels text not null default '{}'`,
    ],
  },
  {
    version: 69,
    name: "leases of jobs as rows",
    statements: [
      `create table job_leases (work KEY primary key, holder KEY not null, hold_until INT8 not null) WITHOUT_ROWID`,
      // Every job is due once: what runs twice does no harm.
      `delete from installation where key >= 'lease:' and key < 'lease;'`,
    ],
  },
  {
    version: 70,
    name: "groups that stand for registries",
    statements: [
      `create table registry_upstreams (uid KEY primary key, parent KEY not null, registry KEY not null, prefix text not null, description text not null, username text not null, credential text not null, allowed text not null, denied text not null, tag_ttl text, missing_ttl text, cooldown text, allowed_digests text not null, anonymous_networks text not null, disabled INT8 not null, last_success_time INT8, last_error text not null, last_error_time INT8, rate text, held_until INT8 not null, create_time INT8 not null, update_time INT8 not null)`,
      `create unique index registry_upstreams_group on registry_upstreams (parent)`,
      // The repos that came from a registry; when a tag was last compared with it, and what it pointed to there, since
      // when; and since when digests are known.
      `create table upstream_repos (repo KEY primary key, upstream KEY not null, name text not null)`,
      `create index upstream_repos_upstream on upstream_repos (upstream)`,
      `create table upstream_tags (repo KEY not null, tag KEY not null, check_time INT8 not null, primary key (repo, tag)) WITHOUT_ROWID`,
      `create table upstream_sightings (repo KEY not null, tag KEY not null, digest KEY not null, seen_time INT8 not null, primary key (repo, tag, digest)) WITHOUT_ROWID`,
      `create table upstream_digests (repo KEY not null, digest KEY not null, parent KEY not null, seen_time INT8 not null, primary key (repo, digest, parent)) WITHOUT_ROWID`,
    ],
  },
  {
    version: 71,
    name: "what signatures say that policies may ask for",
    statements: [
      `alter table signature_entries add column claims text`,
      // What was verified before says nothing of it: each is verified once more, and counts meanwhile as it did.
      `update signature_readings set state = 1, attempts = 0, hold_until = 0, holder = '' where state = 2`,
    ],
  },
  {
    version: 72,
    name: "from where moves of tags were imported",
    statements: [`alter table tag_history add column source text not null default ''`],
  },
  {
    version: 73,
    name: "open findings of groups by day",
    statements: [
      // Each line of a notice has a package, the rank of its severity and a vulnerability, with a space between two.
      `alter table finding_notices add column critical INT8 not null default 0`,
      `alter table finding_notices add column high INT8 not null default 0`,
      `alter table finding_notices add column medium INT8 not null default 0`,
      `alter table finding_notices add column low INT8 not null default 0`,
      `alter table finding_notices add column negligible INT8 not null default 0`,
      `alter table finding_notices add column none INT8 not null default 0`,
      `alter table finding_notices add column unknown INT8 not null default 0`,
      `update finding_notices set critical = (length(open) - length(replace(open, ' 6 ', ''))) / 3, high = (length(open) - length(replace(open, ' 5 ', ''))) / 3, medium = (length(open) - length(replace(open, ' 4 ', ''))) / 3, low = (length(open) - length(replace(open, ' 3 ', ''))) / 3, negligible = (length(open) - length(replace(open, ' 2 ', ''))) / 3, none = (length(open) - length(replace(open, ' 1 ', ''))) / 3, unknown = (length(open) - length(replace(open, ' 0 ', ''))) / 3`,
      `create table finding_days (grp KEY not null, day INT8 not null, critical INT8 not null, high INT8 not null, medium INT8 not null, low INT8 not null, negligible INT8 not null, none INT8 not null, unknown INT8 not null, unknown_images INT8 not null, at_least INT8 not null, time INT8 not null, primary key (grp, day)) WITHOUT_ROWID`,
      `create index finding_days_day on finding_days (day, grp)`,
    ],
  },
  {
    version: 74,
    name: "what commits change, by keys",
    statements: [
      `create table change_keys (number INT8 not null, key KEY not null, primary key (number, key)) WITHOUT_ROWID`,
    ],
  },
  {
    version: 75,
    name: "which manifests refer to content, by that",
    statements: [
      // The kind was missing, so that SQLite read all references of a repo to find those of one kind.
      `drop index manifest_references_target`,
      `create index manifest_references_target on manifest_references (target, repo, digest, kind)`,
    ],
  },
  {
    version: 76,
    name: "which attached documents are signed as policies ask",
    statements: [
      `alter table attachments add column layers text not null default ''`,
      `alter table attachments add column asked text not null default ''`,
      `alter table attachments add column recheck_time INT8`,
      `create index attachments_recheck on attachments (recheck_time) where recheck_time is not null`,
    ],
  },
  {
    version: 77,
    name: "signatures of Notation are verified",
    statements: [
      // Those that were not, by the number of their format: each is verified once more.
      `update signature_readings set state = 1, attempts = 0, hold_until = 0, holder = '' where state = 2 and exists (select 1 from signature_entries as e where e.subject = signature_readings.subject and e.manifest = signature_readings.manifest and e.format = 4)`,
    ],
  },
  {
    version: 78,
    name: "what becomes of images that come from registries",
    statements: [
      `alter table registry_upstreams add column keep_unpulled text`,
      `alter table registry_upstreams add column tag_policy text`,
    ],
  },
  {
    version: 79,
    name: "trust roots, and what mirrors of TUF have of them",
    statements: [
      `create table trust_roots (uid KEY primary key, parent KEY not null, name KEY not null, trusted_root text not null, tuf text, state INT8 not null, message text not null, refresh_time INT8, create_time INT8 not null, update_time INT8 not null)`,
      `create unique index trust_roots_name on trust_roots (parent, name)`,
      `create table tuf_copies (trust_root KEY primary key, source KEY not null, url text not null, root text not null, interval_ms INT8 not null, metadata text not null, trusted_root text not null, expire_time INT8, refresh_time INT8, next_time INT8 not null, state INT8 not null, message text not null)`,
    ],
  },
  {
    version: 80,
    name: "replications, by which images are pushed to other registries",
    statements: [
      `create table replications (uid KEY primary key, parent KEY not null, name KEY not null, description text not null, repo_pattern text not null, tag_pattern text not null, destination text not null, username text not null, credential text not null, flatten INT8 not null, on_push INT8 not null, interval_s INT8, deletions INT8 not null, on_conflict INT8 not null, bytes_per_second INT8 not null, disabled INT8 not null, scan_time INT8, seen_time INT8 not null, forced INT8 not null, held_until INT8 not null, problem text not null, create_time INT8 not null, update_time INT8 not null)`,
      `create unique index replications_parent on replications (parent, name)`,
      `create index replications_scan on replications (scan_time) where scan_time is not null`,
      // An item a tag. Those that wait or are under way are found by when they are due.
      `create table replication_items (replication KEY not null, repository KEY not null, tag KEY not null, repo KEY not null, digest KEY not null, pushed_digest KEY not null, put_digest KEY not null, state INT8 not null, attempts INT8 not null, reason text not null, holder KEY not null, hold_until INT8 not null, wait_time INT8 not null, attempt_time INT8, end_time INT8, bytes INT8 not null, sent_bytes INT8 not null, upload text not null, primary key (replication, repository, tag)) WITHOUT_ROWID`,
      `create index replication_items_due on replication_items (hold_until, replication) where state in (0, 1)`,
      `create index replication_items_state on replication_items (replication, state, attempt_time)`,
      `create index replication_items_repo on replication_items (repo, tag)`,
    ],
  },
  {
    version: 81,
    name: "what authorities say of certificates",
    statements: [
      `create table certificate_statuses (certificate KEY not null, issuer KEY not null, certificate_der text not null, issuer_der text not null, name text not null, host text not null, state INT8 not null, from_time INT8, until_time INT8, since_time INT8, revoke_time INT8, failed_time INT8, message text not null, attempts INT8 not null, next_time INT8 not null, check_time INT8, check_subject KEY not null, check_manifest KEY not null, primary key (certificate, issuer))`,
      `create index certificate_statuses_due on certificate_statuses (next_time)`,
      `create index certificate_statuses_check on certificate_statuses (check_time) where check_time is not null`,
      `create table certificate_status_uses (subject KEY not null, manifest KEY not null, certificate KEY not null, issuer KEY not null, primary key (subject, manifest, certificate, issuer)) WITHOUT_ROWID`,
      `create index certificate_status_uses_of on certificate_status_uses (certificate, issuer, subject, manifest)`,
    ],
  },
  {
    version: 82,
    name: "replications as an identity of another Moorage",
    statements: [
      `alter table replications add column destination_identity KEY not null default ''`,
      // 0 for items of older versions: that their tags moved away and back is not seen.
      `alter table replication_items add column move_time INT8 not null default 0`,
      `create index replication_items_open on replication_items (state, wait_time) where state in (0, 1, 3, 4, 5)`,
    ],
  },
  {
    version: 83,
    name: "thresholds of trust roots",
    statements: [
      `alter table trust_roots add column log_threshold INT8`,
      `alter table trust_roots add column sct_threshold INT8`,
      `alter table trust_roots add column timestamp_threshold INT8`,
    ],
  },
  {
    version: 84,
    name: "registries that are followed",
    statements: [
      `alter table registry_upstreams add column follow text`,
      `alter table registry_upstreams add column follow_state text`,
      `alter table upstream_repos add column follow_time INT8`,
      `alter table upstream_repos add column follow_tags INT8 not null default 0`,
      `alter table upstream_repos add column missing_tags INT8 not null default 0`,
      `create table upstream_follows (upstream KEY primary key, next_time INT8 not null, holder KEY not null, hold_until INT8 not null, turn_time INT8, begin_time INT8 not null, success_time INT8, failures INT8 not null, forced INT8 not null)`,
      `create index upstream_follows_due on upstream_follows (next_time)`,
    ],
  },
  {
    version: 85,
    name: "what needs attention",
    statements: [
      // Few of many rows, which the start of the console asks for.
      `create index mirrors_failing on mirrors (repo) where failures > 0`,
      `create index registry_upstreams_failing on registry_upstreams (uid) where last_error <> ''`,
      `create index upstreams_failing on upstreams (uid) where last_error <> ''`,
      `create index quotas_full on quotas (uid) where state in (3, 4)`,
    ],
  },
  {
    version: 86,
    name: "formats of webhooks",
    statements: [`alter table subscriptions add column format INT8 not null default 0`],
  },
  {
    version: 87,
    name: "tags that end",
    statements: [
      `alter table tags add column expire_time INT8`,
      `create index tags_expire on tags (expire_time, uid) where expire_time is not null`,
    ],
  },
  {
    version: 88,
    name: "downloads of packages",
    statements: [
      `create table download_days (item KEY not null, day INT8 not null, count INT8 not null, primary key (item, day)) WITHOUT_ROWID`,
      `create index download_days_day on download_days (day, item)`,
      `create table last_downloads (item KEY not null, artifact KEY not null, time INT8 not null, primary key (item)) WITHOUT_ROWID`,
      `create index last_downloads_artifact on last_downloads (artifact, item)`,
      `create index last_downloads_time on last_downloads (time)`,
      `create table download_coverage (id INT8 primary key, since INT8 not null)`,
      `create table download_counters (id KEY primary key, time INT8 not null, until_time INT8 not null)`,
      `create table download_gaps (day INT8 primary key, downloads INT8 not null)`,
    ],
  },
  {
    version: 89,
    name: "what quotas hold beside what is in use",
    statements: [
      `create table quota_shares (quota KEY primary key, history_bytes INT8, pending_bytes INT8, cached_bytes INT8, time INT8 not null)`,
    ],
  },
  {
    version: 90,
    name: "pull tokens of centers",
    statements: [
      `create table center_pulls (upstream KEY not null, secret KEY not null, name KEY not null, seen_time INT8 not null, until_time INT8 not null, primary key (upstream, secret, name)) WITHOUT_ROWID`,
      `create index center_pulls_until on center_pulls (until_time)`,
      `create index registry_upstreams_followed on registry_upstreams (uid) where follow is not null`,
    ],
  },
  {
    version: 91,
    name: "how much is kept of other registries",
    statements: [
      `alter table registry_upstreams add column max_bytes INT8 not null default 0`,
      `alter table quotas add column cache_bytes INT8`,
      `alter table quotas add column wanted_bytes INT8 not null default 0`,
      `alter table quotas add column is_set INT8 not null default 1`,
      `create index quotas_cache on quotas (uid) where cache_bytes is not null`,
    ],
  },
  {
    version: 92,
    // On PostgreSQL alone, after the migrations of each version: change-log.ts.
    name: "triggers that note changes by hand",
    statements: [],
  },
];

/** The schema version of this program. */
export const NEWEST_VERSION = MIGRATIONS.at(-1)?.version ?? 0;

/** The migrations that a database of this version lacks, in their order, without their statements. */
export function migrationsAfter(version: number): { version: number; name: string }[] {
  return MIGRATIONS.filter((each) => each.version > version).map((each) => ({
    version: each.version,
    name: each.name,
  }));
}
