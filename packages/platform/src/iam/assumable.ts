/**
 * Part of a WHERE over `identities`: an identity of a person can be assumed only while its identity provider exists and
 * still has the issuer that the person signed in through. Deleting a provider thus ends the tokens of its people.
 */
export const ASSUMABLE = `(identities.provider = '' or exists (select 1 from identity_providers as p
  where p.uid = identities.provider and p.issuer = identities.issuer))`;

/**
 * The issuer of accounts that the installation keeps. No token has it: it is no URL, so that no issuer can be asked for
 * its keys.
 */
export const ACCOUNTS_ISSUER = "urn:moorage:accounts";
