import type { Below } from "@moorage/kernel/core/call";

/** What somebody is signed in by ends with the identity, and with its identity provider. */
export const authBelow: Below = {
  identity: {
    async end({ tx }, identity) {
      for (const table of [
        "refresh_tokens",
        "sessions",
        "sign_in_links",
        "authorization_codes",
        "device_codes",
        "personal_tokens",
        "accounts",
        "passkeys",
        "recovery_codes",
        "recovery_links",
        "known_browsers",
      ] as const)
        await tx.deleteFrom(table).where("identity", "=", identity).execute();
    },
  },
  identityProvider: {
    async signOut({ tx }, provider) {
      const people = tx.selectFrom("identities").select("uid").where("provider", "=", provider);
      for (const table of ["refresh_tokens", "personal_tokens"] as const)
        await tx.deleteFrom(table).where("identity", "in", people).execute();
      // With the accounts of an organization go those of people in no group, such as the owner of the first start.
      const accounts = tx.selectFrom("accounts").select("identity").where("provider", "=", provider);
      for (const table of ["passkeys", "recovery_codes", "recovery_links", "known_browsers"] as const)
        await tx.deleteFrom(table).where("identity", "in", accounts).execute();
      await tx.deleteFrom("accounts").where("provider", "=", provider).execute();
    },
  },
};
