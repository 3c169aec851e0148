/**
 * Part of a WHERE over `identities`: an identity of a person can be assumed only while its identity provider exists and
 * still has the issuer that the person signed in through. Deleting a provider thus ends the tokens of its people.
 */
export const ASSUMABLE = `(identities.provider = '' or exists (select 1 from identity_providers as p
  where p.uid = identities.provider and p.issuer = identities.issuer))`;
