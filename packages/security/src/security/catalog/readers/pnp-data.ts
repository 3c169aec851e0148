/** Where the map begins: a text between single quotes since Yarn 4, and an object before. */
const AS_TEXT = "RAW_RUNTIME_STATE =";
const AS_OBJECT = "return hydrateRuntimeState(";

/** The JSON that a `.pnp.cjs` has in it, of which nothing is run; undefined when it has none. */
export function pnpData(program: string): string | undefined {
  const text = program.indexOf(AS_TEXT);
  if (text >= 0) return quoted(program, program.indexOf("'", text));
  const object = program.indexOf(AS_OBJECT);
  return object < 0 ? undefined : braced(program, program.indexOf("{", object));
}

/** The text between the quotes: a backslash before the end of a line means nothing, else what follows it is meant. */
function quoted(program: string, start: number): string | undefined {
  for (let at = start + 1; start >= 0 && at < program.length; at += 1) {
    if (program[at] === "'") return program.slice(start + 1, at).replaceAll(/\\(?:\n|([^\n]))/g, "$1");
    if (program[at] === "\\") at += 1;
  }
  return undefined;
}

/** The object from its brace to the one that ends it. */
function braced(program: string, start: number): string | undefined {
  let depth = 0;
  let isQuoted = false;
  for (let at = start; start >= 0 && at < program.length; at += 1) {
    const letter = program[at];
    if (isQuoted) {
      if (letter === "\\") at += 1;
      else if (letter === '"') isQuoted = false;
    } else if (letter === '"') isQuoted = true;
    else if (letter === "{") depth += 1;
    else if (letter === "}") {
      depth -= 1;
      if (depth === 0) return program.slice(start, at + 1);
    }
  }
  return undefined;
}
