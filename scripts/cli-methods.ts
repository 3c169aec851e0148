// A method of the API as a command: its verb, its arguments and its flags, out of its descriptor.
import { type DescField, type DescMessage, type DescMethod, getOption } from "@bufbuild/protobuf";
import { http as httpOption } from "@moorage/api/gen/google/api/annotations_pb";
import { COMMENTS } from "@moorage/api/gen/moorage/comments";
import { access as accessOption, Transaction, transaction as transactionOption } from "@moorage/api/messages";
import type { Kind } from "../packages/cli/src/api/name-kinds.ts";
import { FLAG_DEPTH, type MethodData } from "../packages/cli/src/resources/method-data.ts";
import type { ArgumentSpec, MethodKind } from "../packages/cli/src/resources/spec.ts";
import { fieldData, type MessageUse, refOf } from "./cli-fields.ts";
import { KIND_OF_MESSAGE, NAMELESS, type Noun, SUMMARIES, VERBS } from "./cli-nouns.ts";

const PAGING = ["page_size", "page_token", "order_by", "skip", "uidp", "validate_only", "update_mask"];
const WORDS = /[A-Z][a-z0-9]*/g;

/**
 * The method, and the messages whose fields it names. Source: google/api/http.proto, AIP-131 to AIP-136.
 */
export function methodData(noun: Noun, method: DescMethod): { data: MethodData; uses: MessageUse[] } {
  const { pattern, body, additionalBindings } = getOption(method, httpOption);
  if (pattern.case === undefined || pattern.case === "custom") throw new Error(`${method.name} has no HTTP verb`);
  const has = (name: string): boolean => method.input.fields.some((field) => field.name === name);
  const kind = kindOf(method, pattern.case);
  const bodyField = method.input.fields.find((field) => field.name === body);
  const params = [...pattern.value.matchAll(/\{([a-z0-9_.]+)/g)].map(([, path = ""]) => path);
  const args = argumentsOf(method, params, kind, bodyField);
  const filled = new Set([...params, ...args.flatMap(({ fields }) => fields.map(snake))]);
  const source = bodyField?.message ?? method.input;
  const flags = source.fields
    .filter((field) => !filled.has(bodyField === undefined ? field.name : `${bodyField.name}.${field.name}`))
    .filter((field) => bodyField !== undefined || !PAGING.includes(field.name))
    .filter((field) => kind !== "list" || field.name !== "cursor")
    .filter((field) => fieldData(field).output !== true);
  // What a request says beside its body, such as what the caller accepts.
  const besides = (bodyField === undefined ? [] : method.input.fields).filter(
    (field) => field !== bodyField && !filled.has(field.name) && !PAGING.includes(field.name),
  );
  const items = itemsOf(method, kind);
  const rootPath = additionalBindings
    .map(({ pattern: other }) => other.value)
    .find((path) => typeof path === "string" && !path.includes("{"));
  const help = describedAs(method);
  const response = items?.message ?? method.output;
  const data: MethodData = {
    method: `${method.parent.typeName}/${method.name}`,
    verb: verbOf(noun, method),
    kind,
    http: pattern.case.toUpperCase() as MethodData["http"],
    path: pattern.value.replaceAll(/\{([a-z0-9_.]+)/g, (_, path: string) => `{${camel(path)}`),
    ...(typeof rootPath === "string" && { rootPath }),
    ...(body !== "" && { body: camel(body) }),
    reads: getOption(method, transactionOption) === Transaction.READ || pattern.case === "get",
    summary: SUMMARIES[`${method.parent.name}.${method.name}`] ?? firstSentence(help),
    help,
    arguments: args,
    flags: { of: source.typeName, names: flags.map(({ jsonName }) => jsonName) },
    ...(besides.length > 0 && {
      besides: { of: method.input.typeName, names: besides.map(({ jsonName }) => jsonName) },
    }),
    ...(getOption(method, accessOption).public && { isPublic: true as const }),
    ...(has("uidp") && { uidp: true as const }),
    ...(has("page_token")
      ? { paged: "token" as const }
      : has("cursor") && kind === "list"
        ? { paged: "cursor" as const }
        : {}),
    ...(has("validate_only") && { dryRun: true as const }),
    ...(has("update_mask") && { masked: true as const }),
    response: response.typeName,
    ...(method.output.fields.length > 0 && { items: items?.jsonName ?? plural(method.output) }),
  };
  const uses: MessageUse[] = [
    [source, FLAG_DEPTH],
    [response, 1],
  ];
  return { data, uses: besides.length > 0 ? [...uses, [method.input, 1]] : uses };
}

function kindOf(method: DescMethod, http: string): MethodKind {
  if (http === "delete") return "delete";
  if (http === "patch") return "update";
  if (/^(?:List|Search|Preview)/.test(method.name) && itemsOf(method, "list") !== undefined) return "list";
  if (http === "get") return "get";
  return method.name.startsWith("Create") ? "create" : "call";
}

/** The field of a list's response that has the items. */
function itemsOf(method: DescMethod, kind: MethodKind): DescField | undefined {
  return kind === "list"
    ? method.output.fields.find((field) => field.fieldKind === "list" && field.message !== undefined)
    : undefined;
}

/** `rotate-secret` of RotateSubscriptionSecret: the method's name without the words for its resource. */
function verbOf(noun: Noun, method: DescMethod): string {
  const given = VERBS[`${method.parent.name}.${method.name}`];
  if (given !== undefined) return given;
  let name = method.name;
  for (const word of noun.words) {
    const at = [pluralOf(word), word].find((form) => new RegExp(`(?<=[a-z])${form}(?![a-z])`).test(name));
    if (at !== undefined) name = name.replace(new RegExp(`(?<=[a-z])${at}(?![a-z])`), "");
  }
  return (name.match(WORDS) ?? []).map((word) => word.toLowerCase()).join("-");
}

function argumentsOf(
  method: DescMethod,
  params: readonly string[],
  kind: MethodKind,
  body: DescField | undefined,
): ArgumentSpec[] {
  const [first = "", second] = params;
  if (/^repo_uid$/.test(first) && second !== undefined) {
    const form = second === "tag" ? "tag" : "image";
    return [{ form, name: "image", fields: [camel(first), camel(second)], required: true }];
  }
  const named = body?.message?.fields.find(({ name }) => name === "name");
  const args = params.map((path): ArgumentSpec => {
    const of = kindOfParam(method, path);
    if (
      kind === "create" &&
      path === "parent" &&
      body?.message !== undefined &&
      named !== undefined &&
      isPathOf(body.message)
    )
      return {
        form: "new",
        name: "name",
        ...(of && { kind: of }),
        fields: ["parent", `${body.jsonName}.name`],
        required: true,
        ...(getOption(method, accessOption).root && { root: true as const }),
      };
    if (of === undefined && !/uid$|^parent$/.test(path))
      return { form: "text", name: kebab(path), fields: [camel(path)], required: true };
    return { form: "ref", name: of ?? "uid", ...(of && { kind: of }), fields: [camel(path)], required: true };
  });
  return [...args, ...(params.length === 0 ? requiredText(method) : [])];
}

/** What a method without anything in its path is about: its one required field. */
function requiredText(method: DescMethod): ArgumentSpec[] {
  const required = method.input.fields.filter((field) => fieldData(field).required === true);
  const [only] = required;
  if (only === undefined || required.length > 1 || only.fieldKind !== "scalar") return [];
  const kind = refOf(only);
  return [
    {
      form: kind === undefined ? "text" : "ref",
      name: kebab(only.name),
      ...(kind && { kind }),
      fields: [only.jsonName],
      required: true,
    },
  ];
}

/** The kind of the resource that a path's field names: what its access rule is about, or what its name says. */
function kindOfParam(method: DescMethod, path: string): Kind | undefined {
  const { scope, resource } = getOption(method, accessOption);
  if (scope === path && resource !== "") return KIND_OF_MESSAGE[resource];
  const field = path
    .split(".")
    .reduce<DescField | undefined>(
      (found, name) => (found?.message ?? method.input).fields.find((each) => each.name === name),
      undefined,
    );
  return field && refOf(field);
}

function isPathOf({ typeName }: DescMessage): boolean {
  return KIND_OF_MESSAGE[typeName] !== undefined && !NAMELESS.includes(typeName);
}

/** The method's comment as what the command does: `Show one repo, with its readme.` */
function describedAs(method: DescMethod): string {
  const text = COMMENTS[`${method.parent.typeName}.${method.name}`] ?? "";
  const [, verb = "", rest = ""] = new RegExp(`^${method.name} ([a-z]+)(.*)$`, "s").exec(text) ?? [];
  if (verb === "") return text;
  const words = `${imperative(verb)}${rest}`
    .replaceAll(
      /, (and|or) (answers|stores|removes|changes)\b/g,
      (_, word: string, other: string) => ` ${word} ${imperative(other)}`,
    )
    .replaceAll(/\bthe caller (may|can)\b/g, "you $1")
    .replaceAll(/\bthe caller holds\b/g, "you hold")
    .replace(/^change the fields named in the mask/, "change the fields that flags or a file name");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

function imperative(verb: string): string {
  if (verb === "answers") return "show";
  if (verb === "has") return "have";
  if (verb.endsWith("ies")) return `${verb.slice(0, -3)}y`;
  if (/(?:ss|sh|ch|x)es$/.test(verb)) return verb.slice(0, -2);
  return verb.endsWith("s") ? verb.slice(0, -1) : verb;
}

/** Without its dot, and with a small letter. */
function firstSentence(text: string): string {
  const [sentence = ""] = /^.*?(?=[.:;](?:\s|$)|$)/s.exec(text) ?? [];
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
}

/** `roleBindings` of RoleBinding. */
function plural({ name }: DescMessage): string {
  const many = pluralOf(name);
  return `${many.charAt(0).toLowerCase()}${many.slice(1)}`;
}

function pluralOf(word: string): string {
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  return word.endsWith("s") ? word : `${word}s`;
}

function camel(path: string): string {
  return path.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function snake(path: string): string {
  return path.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function kebab(name: string): string {
  return name.replaceAll("_", "-");
}
