/** Whether If-None-Match names the entity tag. Source: RFC 9110 §13.1.2. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === "*" || header.split(",").some((item) => item.trim().replace(/^W\//, "") === etag);
}
