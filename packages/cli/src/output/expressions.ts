// The formats with an expression: JSONPath, Mustache, jq. Each library is loaded when its format is used.
import type { Json, JsonObject } from "../api/rest.ts";
import { UsageFailure, Failure } from "../command/failure.ts";

/** Prints of a document what an expression selects, ready to print. Throws a Failure where it does not apply. */
export type Selector = (document: JsonObject) => string;

/** JSONPath of RFC 9535; kubectl's braces and leading dot are taken too. Each value is a line, texts without quotes. */
export async function jsonPathSelector(expression: string): Promise<Selector> {
  const { jsonpath } = await import("json-p3");
  const bare = /^\{(.*)\}$/s.exec(expression.trim())?.[1] ?? expression.trim();
  const path = bare.startsWith("$") ? bare : `$${bare.startsWith(".") || bare.startsWith("[") ? "" : "."}${bare}`;
  const compiled = attempt(() => jsonpath.compile(path), "jsonpath");
  return (document) =>
    compiled
      .query(document)
      .values()
      .map((value) => `${typeof value === "string" ? value : JSON.stringify(value)}\n`)
      .join("");
}

/** Mustache: `{{name}}`, sections for lists; nothing in it is run. Nothing is escaped, as the result is no HTML. */
export async function templateSelector(expression: string): Promise<Selector> {
  const { default: mustache } = await import("mustache");
  // Shells keep `\n` and `\t` as they are typed.
  const template = expression.replaceAll(/\\([nt\\])/g, (_, letter: string) =>
    letter === "n" ? "\n" : letter === "t" ? "\t" : "\\",
  );
  attempt(() => mustache.parse(template), "template");
  return (document) => {
    const text = mustache.render(template, bare(document), {}, { escape: textOf });
    return text.endsWith("\n") ? text : `${text}\n`;
  };
}

/** A value without what JavaScript gives to all: Mustache would find functions there, and call them. */
function bare(value: Json): Json {
  if (value === null || typeof value !== "object") return value;
  const copy = Array.isArray(value)
    ? value.map(bare)
    : Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, bare(entry)]));
  return Object.setPrototypeOf(copy, null) as Json;
}

function textOf(value: Json): string {
  return value !== null && typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A filter of jq, which is here as WebAssembly. Texts are printed without quotes, other values each in a line. */
export async function jqSelector(filter: string): Promise<Selector> {
  const { loadJq } = await import("jq-wasm");
  const jq = await loadJq();
  // Without a document it is only compiled.
  const compiled = jq.raw("", filter);
  if (compiled.exitCode !== 0) throw new UsageFailure(reasonOf(compiled.stderr), { field: "--jq" });
  return (document) => {
    const { stdout, stderr, exitCode } = jq.raw(JSON.stringify(document), filter, ["-c", "-r"]);
    if (exitCode !== 0) throw new Failure(reasonOf(stderr), { field: "--jq" });
    return stdout === "" ? "" : `${stdout.replace(/\n$/, "")}\n`;
  };
}

/** jq's messages without its name. */
function reasonOf(stderr: string): string {
  const [first = "", ...rest] = stderr.trim().split("\n");
  const compile = rest.length > 0 ? (first.split(" at <top-level>", 1)[0] ?? "") : first;
  return compile.replace(/^jq: error(?: \(at [^)]*\))?: /, "") || "the filter failed";
}

function attempt<T>(parse: () => T, field: string): T {
  try {
    return parse();
  } catch (cause) {
    throw new UsageFailure(cause instanceof Error ? cause.message : String(cause), { field, cause });
  }
}
