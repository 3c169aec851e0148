/**
 * Part of a WHERE over `identities`: those of a provider's people count while the provider is there and has the issuer
 * that vouched for them. With the provider goes what it said.
 */
export const ASSUMABLE = `(identities.provider = '' or exists (select 1 from identity_providers as p
  where p.uid = identities.provider and p.issuer = identities.issuer))`;
