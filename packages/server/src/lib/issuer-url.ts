/**
 * Whether the text can be an issuer: an http or https URL without user, query and fragment, and without dot segments,
 * which would have another place asked for keys than the one that is named. Source: OpenID Connect Discovery 1.0 §3.
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

// Source: RFC 3986 §5.2.4; URLs count an encoded dot as one.
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i;
