// The request of a method, out of arguments, flags and a file.
import { pin } from "../api/image-digest.ts";
import type { Names } from "../api/names.ts";
import type { CallOptions, Json, JsonObject, Query, RestClient } from "../api/rest.ts";
import { objectsIn, textIn } from "../api/json-fields.ts";
import { subjectOf } from "../claims.ts";
import { EXIT } from "../command/exit-codes.ts";
import { Failure, UsageFailure } from "../command/failure.ts";
import { type FieldFlag, standsForAll, valueOf } from "./flags.ts";
import type { ArgumentSpec, FieldSpec, MethodSpec } from "./spec.ts";

/** A call that is ready to be made. */
export interface Prepared {
  path: string;
  options: CallOptions & { query: Query };
}

/** What the words of a command line say about a request. */
export interface Given {
  words: readonly (string | undefined)[];
  flags: readonly FieldFlag[];
  values: Readonly<Record<string, unknown>>;
  /** The resource of `-f`. */
  file?: JsonObject;
  /** Names of fields to empty. */
  clear?: readonly string[];
  dryRun?: boolean;
  /** The path of the group in which a new resource is made whose name has no path. */
  group?: string;
}

interface Server {
  rest: RestClient;
  names: Names;
}

/** Throws a UsageFailure for what is wrong with the command line, and a Failure for names that stand for nothing. */
export async function prepare(server: Server, method: MethodSpec, given: Given): Promise<Prepared> {
  const { body, http, masked, dryRun } = method;
  const content = contentOf(method, given);
  const mask = new Set(Object.keys(content).filter((name) => isWritable(method.flags, name)));
  const query: Query = {};
  for (const { flag, path, field, attribute } of given.flags) {
    const value = given.values[attribute];
    if (value === undefined) {
      if (method.kind === "list" && standsForAll(field)) put(content, path, [...(field.values ?? [])]);
      continue;
    }
    const json = await jsonOf(server, flag, field, value);
    if (field.inQuery === true) {
      Object.assign(query, queryOf({ [field.name]: json }));
      continue;
    }
    put(content, path, json);
    mask.add(path.join("."));
  }
  for (const name of given.clear ?? []) mask.add(clearedPath(method, content, name));
  const filled = new Map<string, string>();
  for (const [at, spec] of method.arguments.entries()) {
    const word = given.words[at];
    if (word !== undefined)
      for (const [field, value] of await fill(server, spec, word, given.group)) filled.set(field, value);
  }
  const used = new Set<string>();
  const path = pathOf(method, filled, used);
  for (const [field, value] of filled) {
    if (used.has(field)) continue;
    const inBody =
      body === undefined
        ? undefined
        : body === "*"
          ? field
          : field.startsWith(`${body}.`)
            ? field.slice(body.length + 1)
            : undefined;
    if (inBody !== undefined) put(content, inBody.split("."), value);
    else query[field] = value;
  }
  if (masked === true && mask.size === 0)
    throw new UsageFailure("nothing to change was named", { hint: "name it by flags, by --file or by --clear" });
  if (masked === true) query["updateMask"] = [...mask].join(",");
  if (dryRun === true && given.dryRun === true) {
    if (body === "*") content["validateOnly"] = true;
    else query["validateOnly"] = true;
  }
  if (body === undefined || http === "GET" || http === "DELETE")
    return { path, options: { query: { ...queryOf(content), ...query }, reads: method.reads } };
  return { path, options: { query, body: content, reads: method.reads } };
}

function contentOf(method: MethodSpec, { file }: Given): JsonObject {
  if (file === undefined) return {};
  if (method.body === undefined) throw new UsageFailure("this command takes no file", { field: "--file" });
  return { ...file };
}

/** Whether a mask may name the field: the server sets the others, and a file that it wrote has them too. */
function isWritable(fields: readonly FieldSpec[], name: string): boolean {
  return fields.some((field) => field.name === name && field.output !== true && field.inQuery !== true);
}

function clearedPath({ flags }: MethodSpec, content: JsonObject, name: string): string {
  const path = name.replaceAll(/[-_]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  const [first = ""] = path.split(".");
  if (!isWritable(flags, first)) {
    const known = flags
      .filter((field) => field.inQuery !== true)
      .map((field) => field.name)
      .join(", ");
    throw new UsageFailure(`${name} is no field that can be emptied`, { field: "--clear", hint: `there are ${known}` });
  }
  delete content[first];
  return path;
}

async function jsonOf({ names }: Server, flag: string, field: FieldSpec, given: unknown): Promise<Json> {
  const value = await valueOf(flag, field, given);
  return field.ref === undefined || typeof value !== "string" || value === "" ? value : names.uidOf(field.ref, value);
}

/** The fields that an argument fills, with their values. */
async function fill(
  { rest, names }: Server,
  spec: ArgumentSpec,
  word: string,
  group: string | undefined,
): Promise<[string, string][]> {
  const { form, kind, fields, root } = spec;
  const [first = "", second = ""] = fields;
  switch (form) {
    case "text":
      return [[first, word === "-" ? await (await import("./files.ts")).standardInput() : word]];
    case "ref":
      return [[first, kind === undefined ? word : await names.uidOf(kind, word)]];
    case "new": {
      const at = word.lastIndexOf(kind === "repo" ? ":" : "/");
      const name = word.slice(at + 1);
      if (at < 0 && root === true)
        return [
          [first, ""],
          [second, name],
        ];
      if (at < 0 && kind === "group" && name !== "") {
        const parent =
          group === undefined ? await ownOrganization(rest, spec, word) : await names.uidOf("group", group);
        return [
          [first, parent],
          [second, name],
        ];
      }
      if (at <= 0 || name === "")
        throw new UsageFailure(
          `must be a path such as ${kind === "repo" ? "acme/app:1.2" : "acme/team/name"}, not ${word}`,
          { field: spec.name },
        );
      return [
        [first, await names.uidOf(kind ?? "group", word.slice(0, at))],
        [second, name],
      ];
    }
    case "tag":
    case "image": {
      const image = await names.imageOf(word);
      if (form === "image")
        return [
          [first, image.repo],
          [second, (await pin({ rest, names }, image)).digest],
        ];
      if (image.tag === undefined)
        throw new UsageFailure(`must name a tag, as ${word}:latest does`, { field: spec.name });
      return [
        [first, image.repo],
        [second, image.tag],
      ];
    }
  }
}

/** The organization that the caller belongs to, or the only one that it sees. Throws a UsageFailure otherwise. */
async function ownOrganization(rest: RestClient, spec: ArgumentSpec, word: string): Promise<string> {
  const [own = "", ...below] = subjectOf(rest.bearer())?.split("/") ?? [];
  if (below.length > 0) return own;
  const answer = await rest.call("GET", "/iam/v2/groups", { query: { "uidp.in_root": true, page_size: 3 } });
  // What anybody may pull is in an organization that the installation makes for itself.
  const [only, second] = objectsIn(answer, "groups").filter((group) => textIn(group, "name") !== "public");
  if (only !== undefined && second === undefined) return textIn(only, "uid");
  throw new UsageFailure(`must be a path such as acme/${word}: there is more than one organization`, {
    field: spec.name,
  });
}

function pathOf(method: MethodSpec, filled: ReadonlyMap<string, string>, used: Set<string>): string {
  if (method.rootPath !== undefined && filled.get("parent") === "") {
    used.add("parent");
    return method.rootPath;
  }
  return method.path.replaceAll(/\{([\w.]+)(?:=([^{}]*))?\}/g, (_, field: string, form?: string) => {
    const value = filled.get(field);
    if (value === undefined || value === "") throw new Failure(`the ${field} is missing`, { exit: EXIT.usage });
    used.add(field);
    const escaped = encodeURIComponent(value).replaceAll("%3A", ":");
    // A uid in a place of one segment keeps its slashes escaped.
    return form !== "**" ? escaped : escaped.replaceAll("%2F", "/");
  });
}

function put(target: JsonObject, path: readonly string[], value: Json): void {
  const [first = "", ...rest] = path;
  if (rest.length === 0) {
    target[first] = value;
    return;
  }
  const inner = target[first];
  const object = typeof inner === "object" && inner !== null && !Array.isArray(inner) ? inner : {};
  target[first] = object;
  put(object, rest, value);
}

/** A request's fields as parameters. Messages are dotted; lists of messages are JSON. Source: docs/contract.md. */
function queryOf(content: JsonObject, prefix = ""): Query {
  const query: Query = {};
  for (const [name, value] of Object.entries(content)) {
    const key = `${prefix}${name}`;
    if (value === null) continue;
    if (Array.isArray(value))
      query[key] = value.every((one) => typeof one !== "object") ? value.map(String) : JSON.stringify(value);
    else if (typeof value === "object") Object.assign(query, queryOf(value, `${key}.`));
    else query[key] = value;
  }
  return query;
}
