/** Whether the text can be an issuer: an http or https URL without user, query and fragment. Source: OpenID Connect Discovery 1.0 §3. */
export function isIssuerUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.username === "" && url.password === "" && /^https?:\/\/[^?#\s\\]+$/i.test(text);
}
