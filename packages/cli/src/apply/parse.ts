// Documents as the resources that they declare.
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { isMap, isScalar } from "yaml";
import { isUid } from "../api/name-kinds.ts";
import type { Json, JsonObject } from "../api/rest.ts";
import { fieldOf, hasBehavior } from "./fields.ts";
import { KIND_SPECS, kindNamed, type KindSpec } from "./kinds.ts";
import { documentsIn, filesOf, type Place, placeText, type Problem, type Source } from "./source.ts";
import { fieldsIn, keyText, meant, problem, type Reading } from "./values.ts";

/** A resource that a file declares. */
export interface Declared {
  readonly spec: KindSpec;
  /** The path of names of what it is below; empty at the root. */
  readonly parent: string;
  /** Its path of names, as others name it. */
  readonly path: string;
  /** Its kind and path, for people. */
  readonly label: string;
  /** Which one it is, where the document says so. */
  readonly uid: string | undefined;
  /** Its fields in the form of the API; references are paths of names still. */
  readonly fields: JsonObject;
  readonly at: Place;
  readonly places: ReadonlyMap<string, Place>;
}

/** The resources of all files. What is wrong is added to the problems, with its place. */
export async function declaredIn(
  files: readonly string[],
  problems: Problem[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Declared[]> {
  const found = new Map<string, Declared>();
  for (const file of filesOf(files))
    for (const source of await documentsIn(file, problems)) {
      const one = declaredBy(source, problems, env);
      if (one === undefined) continue;
      const key = one.uid ?? one.label;
      const first = found.get(key);
      if (first !== undefined)
        problems.push({ at: one.at, message: `${one.label} is declared twice, first at ${placeText(first.at)}` });
      else found.set(key, one);
    }
  return [...found.values()];
}

function declaredBy(source: Source, problems: Problem[], env: NodeJS.ProcessEnv): Declared | undefined {
  const { contents } = source.document;
  const reading: Reading = { source, problems, env, places: new Map() };
  if (!isMap(contents)) return void problem(reading, contents, "a document must be a map of fields");
  const before = problems.length;
  const [kinds, parents, uids] = ["kind", "parent", "uid"].map((name) =>
    contents.items.find(({ key }) => isScalar(key) && key.value === name),
  );
  const kind = textOf(reading, kinds?.value, "kind");
  const spec = kind === undefined ? undefined : kindNamed(kind);
  const names = KIND_SPECS.map(({ name }) => name);
  if (kinds === undefined) problem(reading, contents, "kind is missing");
  else if (kind !== undefined && spec === undefined)
    problem(reading, kinds.value, `unknown kind ${kind}${meant(kind, names) || `; there are ${names.join(", ")}`}`);
  const parent = parents === undefined ? "" : (textOf(reading, parents.value, "parent") ?? "");
  const uid = uids === undefined ? undefined : textOf(reading, uids.value, "uid");
  if (uid !== undefined && !isUid(uid)) problem(reading, uids?.value, "is no uid");
  if (spec === undefined) return undefined;
  if (parents === undefined && spec.name !== "Group") problem(reading, contents, `a ${spec.name} needs a parent`);
  const own = contents.items.filter((pair) => pair !== kinds && pair !== parents && pair !== uids);
  for (const { key } of contents.items) keyText(reading, key);
  const fields = fieldsIn(reading, own, spec.message, { renamed: spec.renamed });
  const known = keyOfDocument(spec, fields);
  for (const name of spec.key)
    if (typeof fields[spec.renamed[name] ?? name] !== "string" && problems.length === before)
      problem(reading, contents, `a ${spec.name} needs ${name}`);
  if (problems.length > before) return undefined;
  const path = pathOf(spec, parent, known);
  const at = source.placeOf(contents);
  return { spec, parent, path, label: `${spec.name} ${path}`, uid, fields, at, places: reading.places };
}

function keyOfDocument(spec: KindSpec, fields: JsonObject): string {
  return spec.key.map((name) => String(fields[spec.renamed[name] ?? name] ?? "")).join(":");
}

/** The path of names: below groups with a slash, of what has no name of its own, and of tags, with a colon. */
function pathOf({ key, kind }: KindSpec, parent: string, name: string): string {
  if (key.length === 0) return parent;
  if (parent === "") return name;
  return key[0] === "name" && kind !== "tag" ? `${parent}/${name}` : `${parent}:${name}`;
}

function textOf(reading: Reading, node: unknown, name: string): string | undefined {
  const value: unknown = isScalar(node) ? node.value : undefined;
  if (typeof value === "string" && value !== "") return value;
  return void problem(reading, node, `${name} must be a text`);
}

/** What the API is sent of a declared resource's fields: without those that are to be empty. */
export function sentOf(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Record<string, Json>;
}

/** The paths of a resource's secrets, whose values are not shown. */
export function isSecretPath({ message }: KindSpec, path: string): boolean {
  let at: DescMessage | undefined = message;
  let isSecret = false;
  for (const part of path.split(".")) {
    const field: DescField | undefined = at && fieldOf(at, part);
    isSecret ||= field !== undefined && hasBehavior(field, "INPUT_ONLY") && !part.endsWith("Uid");
    at = field?.message;
  }
  return isSecret;
}
