/**
 * Whether an Accept or Accept-Encoding header names the media type or coding, and does not refuse it by `q=0`.
 * Wildcards name nothing. Source: RFC 9110 §12.5.1 and §12.5.3.
 */
export function accepts(header: string, name: string): boolean {
  return header
    .toLowerCase()
    .split(",")
    .map((range) => range.split(";").map((part) => part.trim()))
    .some(([named, ...parameters]) => named === name && !parameters.some((one) => /^q=0(?:\.0*)?$/.test(one)));
}
