/** What the packages of our `.proto` files begin with. */
export const OWN_PREFIX = "moorage.";

/**
 * A full name of ours, such as that of a message or a service, under an alias: `acme.platform.iam.v2.Group` for
 * `moorage.iam.v2.Group`. Source: docs/contract.md, "Versions".
 */
export function aliasedName(name: string, alias: string): string {
  return `${alias}.${name.slice(OWN_PREFIX.length)}`;
}
