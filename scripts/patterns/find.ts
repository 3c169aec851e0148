import { parseAst } from "vite";

/** A regular expression in a source, and the most characters of the text that it meets, where the code says so. */
export interface FoundPattern {
  source: string;
  flags: string;
  /** `file:line`. */
  place: string;
  /** From `pattern.test(text.slice(0, 200))` or `text.slice(0, 200).replace(pattern, …)`. Undefined for any length. */
  maxChars?: number;
}

/** What the sources have: patterns, and where one is made of what only the running program knows. */
export interface Found {
  patterns: FoundPattern[];
  dynamic: string[];
}

type Node = { type: string; start: number } & Record<string, unknown>;

const OF_PATTERN: ReadonlySet<unknown> = new Set(["test", "exec"]);
const OF_TEXT: ReadonlySet<unknown> = new Set(["match", "matchAll", "replace", "replaceAll", "search", "split"]);
/** Methods that make a regular expression of a text. */
const MAKES_ONE: ReadonlySet<unknown> = new Set(["match", "matchAll", "search"]);

/** The regular expressions of a source in TypeScript. Throws for one that cannot be parsed. */
export function patternsIn(file: string, text: string): Found {
  const program = parseAst(text, { lang: file.endsWith("x") ? "tsx" : "ts" }, file) as unknown as Node;
  const constants = constantsOf(program);
  const found: Found = { patterns: [], dynamic: [] };
  const add = (node: Node, source: Node | undefined, flags: string, maxChars?: number): void => {
    const place = `${file}:${text.slice(0, node.start).split("\n").length}`;
    const value = textOf(source, constants);
    if (value === undefined) found.dynamic.push(place);
    else found.patterns.push({ source: value, flags, place, ...(maxChars !== undefined && { maxChars }) });
  };
  const visit = (node: Node, parents: readonly Node[]): void => {
    const { regex } = node as { regex?: { pattern: string; flags: string } };
    if (node.type === "Literal" && regex !== undefined)
      add(node, literal(regex.pattern), regex.flags, cutOf(node, parents, constants));
    const callee = node["callee"] as Node | undefined;
    const [first, second] = (node["arguments"] ?? []) as Node[];
    if (callee?.type === "Identifier" && callee["name"] === "RegExp")
      add(node, first, textOf(second ?? literal(""), constants) ?? "");
    if (MAKES_ONE.has(nameOf(callee)) && typeof first?.["value"] === "string") add(node, first, "");
    for (const child of childrenOf(node)) visit(child, [node, ...parents]);
  };
  visit(program, []);
  return found;
}

const literal = (value: string): Node => ({ type: "Literal", start: 0, value });

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((value): value is Node => typeof value === "object" && value !== null && "type" in value);
}

/** What the constants of a file are, by their names. */
function constantsOf(program: Node): ReadonlyMap<unknown, Node> {
  const statements = (program["body"] as Node[]).map((each) => (each["declaration"] as Node | undefined) ?? each);
  const declared = statements.flatMap((each) => (each["kind"] === "const" ? (each["declarations"] as Node[]) : []));
  return new Map(declared.map(({ id, init }) => [(id as Node)["name"], init as Node]));
}

/** The text of an expression of literals and constants, or the source of a literal pattern. */
function textOf(node: Node | undefined, constants: ReadonlyMap<unknown, Node>): string | undefined {
  if (node === undefined) return undefined;
  const parts = (nodes: Node[]): string | undefined => {
    const texts = nodes.map((each) => textOf(each, constants));
    return texts.includes(undefined) ? undefined : texts.join("");
  };
  switch (node.type) {
    case "Literal":
      return (node["regex"] as { pattern: string } | undefined)?.pattern ?? String(node["value"]);
    case "TemplateElement":
      return (node["value"] as { cooked: string }).cooked;
    case "TemplateLiteral": {
      const expressions = node["expressions"] as Node[];
      return parts((node["quasis"] as Node[]).flatMap((quasi, at) => [quasi, ...expressions.slice(at, at + 1)]));
    }
    case "BinaryExpression":
      return node["operator"] === "+" ? parts([node["left"] as Node, node["right"] as Node]) : undefined;
    case "MemberExpression":
      return nameOf(node) === "source" ? textOf(node["object"] as Node, constants) : undefined;
    case "Identifier":
      return textOf(constants.get(node["name"]), constants);
    default:
      return undefined;
  }
}

/** The length to which the text is cut in the call that the pattern stands in. */
function cutOf(
  pattern: Node,
  [parent, grandparent]: readonly Node[],
  constants: ReadonlyMap<unknown, Node>,
): number | undefined {
  if (parent?.["object"] === pattern && OF_PATTERN.has(nameOf(parent)) && grandparent?.["callee"] === parent)
    return lengthOf((grandparent["arguments"] as Node[])[0], constants);
  const callee = parent?.["callee"] as Node | undefined;
  const [first] = (parent?.["arguments"] ?? []) as Node[];
  if (OF_TEXT.has(nameOf(callee)) && first === pattern) return lengthOf(callee?.["object"] as Node, constants);
  return undefined;
}

function lengthOf(text: Node | undefined, constants: ReadonlyMap<unknown, Node>): number | undefined {
  if (text?.type !== "CallExpression" || nameOf(text["callee"] as Node) !== "slice") return undefined;
  const [from, to] = text["arguments"] as Node[];
  const length = Number(textOf(to, constants)?.replaceAll("_", ""));
  return textOf(from, constants) === "0" && length >= 0 ? length : undefined;
}

function nameOf(node: Node | undefined): unknown {
  return node?.type === "MemberExpression" ? (node["property"] as Node)["name"] : undefined;
}
