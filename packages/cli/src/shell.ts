/** Quotes a value for a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A command that reads one value from the JSON on its standard input, by a JavaScript path such as `.uid`. */
export function pick(path: string): string {
  return `node -p ${quote(`JSON.parse(require("fs").readFileSync(0, "utf8"))${path}`)}`;
}
