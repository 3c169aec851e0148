import { removeFaulty, type RowCheck } from "@moorage/kernel/core/row-check";

/** The checks of what identities are signed in by. */
export const AUTH_CHECKS: readonly RowCheck[] = [
  {
    kind: "refresh-token-without-identity",
    meaning: "a refresh token stands for an identity that is gone",
    find: "select t.hash, t.identity from refresh_tokens as t where not exists (select 1 from identities as i where i.uid = t.identity)",
    show: ["identity"],
    repair: removeFaulty("refresh_tokens", ["hash"]),
  },
  {
    kind: "personal-token-without-identity",
    meaning: "a personal token stands for an identity that is gone",
    find: "select t.uid, t.identity, t.name from personal_tokens as t where not exists (select 1 from identities as i where i.uid = t.identity)",
    show: ["identity", "name"],
    repair: removeFaulty("personal_tokens", ["uid"]),
  },
  {
    kind: "account-without-identity",
    meaning: "an account of this installation is of an identity that is gone",
    find: "select t.identity from accounts as t where not exists (select 1 from identities as i where i.uid = t.identity)",
    show: ["identity"],
    repair: removeFaulty("accounts", ["identity"]),
  },
  {
    kind: "passkey-without-account",
    meaning: "a passkey is of an account that is gone",
    find: "select t.id, t.identity from passkeys as t where not exists (select 1 from accounts as a where a.identity = t.identity)",
    show: ["identity"],
    repair: removeFaulty("passkeys", ["id"]),
  },
];
