/** The claim of that name; undefined when the token has none, whatever objects inherit. */
export function own(claims: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

/** A string that every database stores unchanged: well-formed, without null characters. Undefined for anything else. */
export function textOf(value: unknown, maxChars: number): string | undefined {
  return typeof value === "string" &&
    value !== "" &&
    value.length <= maxChars &&
    value.isWellFormed() &&
    !value.includes("\0")
    ? value
    : undefined;
}
