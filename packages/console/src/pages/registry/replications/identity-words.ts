/** The audience of tokens for a destination as it is typed: its scheme and host. Undefined while it names no host. */
export function audienceOf(destination: string): string | undefined {
  const text = destination.trim();
  const url = URL.parse(/^https?:\/\//.test(text) ? text : `https://${text}`);
  return url === null || url.hostname === "" ? undefined : url.origin;
}
