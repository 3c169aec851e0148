/** `name=value` lines of a map. */
export function toLines(map: Readonly<Record<string, string>>): string {
  return Object.entries(map)
    .map(([name, value]) => `${name}=${value}`)
    .join("\n");
}

/** The map that such lines are; a line without `=` is a name without a value. */
export function fromLines(text: string): Record<string, string> {
  const entries = listOf(text).map((line): [string, string] => {
    const at = line.indexOf("=");
    return at < 0 ? [line, ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
  return Object.fromEntries(entries);
}

/** The lines that hold something. */
export function listOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
