/** A package URL in its parts, decoded, with names as its type writes them. Parts that it does not have are empty. */
export interface Purl {
  /** In lower case. */
  type: string;
  namespace: string;
  name: string;
  version: string;
  /** By their keys, which are in lower case. */
  qualifiers: ReadonlyMap<string, string>;
  subpath: string;
}
