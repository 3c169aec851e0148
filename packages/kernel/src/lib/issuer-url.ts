/**
 * Whether the text can be an issuer: an http or https URL without user, query, fragment and dot segments. Dot segments
 * would make the URL of the keys differ from the issuer as written. Source: OpenID Connect Discovery 1.0 §3.
 */
export function isIssuerUrl(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null &&
    url.username === "" &&
    url.password === "" &&
    /^https?:\/\/[^?#\s\\]+$/i.test(text) &&
    !DOT_SEGMENT.test(text)
  );
}

// Source: RFC 3986 §5.2.4; the URL standard treats an encoded dot as a dot.
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i;
