/** A variable of a path: the dotted request field that it fills, and the segment that has its value. */
interface Variable {
  field: string;
  /** Index among the segments after the collection. */
  index: number;
}

/** A parsed path template of google.api.http. */
export interface Template {
  /** The first three segments, literal: `/registry/v2/repos`. */
  collection: string;
  /**
   * The segments after it: a literal, `*` for one segment, `**` for one or more. At most one is `**`; the only variable
   * of a path is always one, because it is a uid, whose slashes may stand as they are.
   */
  segments: string[];
  /** The custom verb, without its colon; empty without one. */
  verb: string;
  variables: Variable[];
  /** The template without the names of its variables: templates of one shape match the same paths. */
  shape: string;
}

const SLASH = 47;
const COLON = 58;
const FIELD = /^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*$/;
const LITERAL = /^[A-Za-z0-9_.-]+$/;

/**
 * Parses a template. Throws, at boot, for a form that the REST handler does not serve. It serves a literal collection
 * of three segments, then literals and variables that are whole segments: `{x}`, `{x=*}` or one `{x=**}`. Source:
 * google/api/http.proto. Wider than there, an only `{x=*}` matches what `{x=**}` does: otherwise the `{uid=**}` of
 * another method would take the literal after it as the end of a uid.
 */
export function parseTemplate(text: string): Template {
  const [path, verb = ""] = splitVerb(text);
  const [root, domain, version, name, ...rest] = path.split("/");
  const isLiteral = root === "" && [domain, version, name].every((part) => part !== undefined && LITERAL.test(part));
  if (!isLiteral) throw new Error(`path template ${text} needs three literal segments first`);
  const variables: Variable[] = [];
  const segments = rest.map((segment, index) => {
    if (!segment.startsWith("{")) return segment;
    const [field = "", pattern = "*"] = segment.slice(1, -1).split("=");
    const isKnown = segment.endsWith("}") && FIELD.test(field) && (pattern === "*" || pattern === "**");
    if (!isKnown) throw new Error(`path template ${text} has a variable of an unknown form`);
    variables.push({ field, index });
    return pattern;
  });
  const [only, ...more] = variables;
  if (only !== undefined && more.length === 0) segments[only.index] = "**";
  if (segments.filter((segment) => segment === "**").length > 1)
    throw new Error(`path template ${text} has more than one **`);
  if (segments.some((segment) => !segment.startsWith("*") && !LITERAL.test(segment)))
    throw new Error(`path template ${text} has a segment of an unknown form`);
  const collection = `/${domain}/${version}/${name}`;
  return { collection, segments, verb, variables, shape: `${collection}/${segments.join("/")}:${verb}` };
}

/**
 * The values of the template's segments, percent-encoded as in the path, those of `**` joined by `/`. Undefined when
 * the path does not match. `rest` is the path after the collection: empty, or beginning with `/` or `:`.
 */
export function matchTemplate(template: Template, rest: string): string[] | undefined {
  const path = stripVerb(rest, template.verb);
  const { segments } = template;
  if (path === undefined) return undefined;
  if (segments.length === 0) return path === "" ? [] : undefined;
  if (path.charCodeAt(0) !== SLASH) return undefined;
  if (segments.length === 1 && segments[0] === "**") return path.length === 1 ? undefined : [path.slice(1)];
  const parts = path.slice(1).split("/");
  const wide = segments.indexOf("**");
  const extra = parts.length - segments.length;
  if (extra < 0 || (extra > 0 && wide < 0)) return undefined;
  const values =
    extra === 0
      ? parts
      : [...parts.slice(0, wide), parts.slice(wide, wide + extra + 1).join("/"), ...parts.slice(wide + extra + 1)];
  for (let at = 0; at < segments.length; at++) {
    const segment = segments[at];
    if (values[at] === "" || (segment !== "*" && segment !== "**" && segment !== values[at])) return undefined;
  }
  return values;
}

/**
 * Sorts the more specific template first: with a verb, then with more literals, then without `**`, then with more
 * segments.
 */
export function bySpecificity(one: Template, other: Template): number {
  return weight(other) - weight(one);
}

function weight({ verb, segments }: Template): number {
  const literals = segments.filter((segment) => !segment.startsWith("*")).length;
  return (verb === "" ? 0 : 10_000) + literals * 100 + (segments.includes("**") ? 0 : 50) + segments.length;
}

function splitVerb(text: string): [path: string, verb?: string] {
  const colon = text.indexOf(":", text.lastIndexOf("/") + 1);
  return colon < 0 ? [text] : [text.slice(0, colon), text.slice(colon + 1)];
}

function stripVerb(rest: string, verb: string): string | undefined {
  if (verb === "") return rest;
  const cut = rest.length - verb.length - 1;
  return cut >= 0 && rest.charCodeAt(cut) === COLON && rest.endsWith(verb) ? rest.slice(0, cut) : undefined;
}
