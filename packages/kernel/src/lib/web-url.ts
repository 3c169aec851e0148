/** Whether it is the address of an http or https page: untrusted content may link to nothing else. */
export function isWebUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol);
}
