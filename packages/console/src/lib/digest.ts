/** `sha256:0123456789ab` of a digest: enough to know it by. */
export function shortDigest(digest: string): string {
  const [algorithm = "", hex = ""] = digest.split(":");
  return hex === "" ? digest : `${algorithm}:${hex.slice(0, 12)}`;
}
