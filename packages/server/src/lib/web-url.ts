/** Whether a browser goes to a page of http or https for it: of content of others nothing else is kept as a link. */
export function isWebUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol);
}
