declare const PACKED_VERSION: string;

/** The version of the package that the file was made from. */
export function ownVersion(): string {
  return PACKED_VERSION;
}
