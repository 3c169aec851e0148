/** The hashes that hold today, by their object identifiers. Source: RFC 5754. */
export const SHA2: ReadonlyMap<string, string> = new Map([
  ["2.16.840.1.101.3.4.2.1", "sha256"],
  ["2.16.840.1.101.3.4.2.2", "sha384"],
  ["2.16.840.1.101.3.4.2.3", "sha512"],
]);
