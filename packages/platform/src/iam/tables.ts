import type { Generated } from "kysely";
import { declareTables } from "@moorage/kernel/store";

declare module "@moorage/kernel/store/tables" {
  interface Tables {
    groups: {
      uid: string;
      parent: string;
      name: string;
      description: string;
      verified: number;
      kind: number;
      status: number;
      resource_limits: string;
      cost_labels: Generated<string>;
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
      /** 1 when its pulls are left out of the statistics of pulls. */
      uncounted: Generated<number>;
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
     * OpenID providers for the sign-in of people, and with the issuer ACCOUNTS_ISSUER the accounts of an organization
     * that the installation keeps. `client_secret` is sealed, or empty. `additional_scopes` is a JSON list,
     * `correlation_rule` the number of a CorrelationRule, `default_role` empty for none.
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
      /** 1 where people of accounts that the installation keeps need two factors. */
      second_factor: Generated<number>;
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
     * Groups of people at identity providers that are too many for a token, by a SHA-256 of them and of whose they are.
     * `external_groups`: a list in JSON; `expire_time`: when the provider's last token with them ends.
     */
    sign_in_groups: { uid: string; identity: string; provider: string; external_groups: string; expire_time: number };
  }
}

export const IAM_TABLES = declareTables({
  groups: { key: ["uid"] },
  freed_names: { key: ["name"] },
  identities: { key: ["uid"], weight: "length(relationship) + length(description)" },
  roles: { key: ["uid"] },
  role_bindings: { key: ["uid"] },
  group_invites: { key: ["uid"] },
  invite_acceptances: { key: ["invite", "identity"] },
  revoked_invites: { key: ["code_hash"] },
  terms_acceptances: { key: ["uid"] },
  account_associations: { key: ["uid"] },
  identity_providers: { key: ["uid"] },
  external_group_role_mappings: { key: ["uid"] },
  sign_in_groups: { key: ["uid"], weight: "length(external_groups)" },
});
