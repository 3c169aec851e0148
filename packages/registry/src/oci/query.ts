/**
 * The parameters of a query below `/v2/`. A plus is a plus, encoded or not: the registry's parameters are media types,
 * digests, names and times, which have no spaces, and many clients send `application/vnd.example+json` as it is.
 * Source: RFC 3986 §3.4; only forms of HTML write spaces as plus.
 */
export function readQuery(text: string): URLSearchParams {
  return new URLSearchParams(text.replaceAll("+", "%2B"));
}
