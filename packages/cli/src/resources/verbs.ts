// A method of the API as a command below its noun.
import { Argument, type Command, InvalidArgumentError } from "commander";
import { KINDS } from "../api/name-kinds.ts";
import { completes, type Source } from "../command/completion-sources.ts";
import { addServerOptions } from "../command/global-options.ts";
import { foldedExample } from "../command/help-layout.ts";
import { addOutputOptions } from "../output/output.ts";
import { addWatchOptions } from "../terminal/watch-options.ts";
import type { Extension } from "./extension.ts";
import { addFieldFlags, type FieldFlag, kebab, shortValue } from "./flags.ts";
import type { VerbFlags } from "./run.ts";
import type { ArgumentSpec, FieldSpec, FieldType, MethodSpec } from "./spec.ts";

/** Adds a method's arguments, flags, help and action to a command, with those of its extension. */
export function addVerb(command: Command, noun: string, method: MethodSpec, extension?: Extension): void {
  command.summary(method.summary).description(sentence(method));
  for (const spec of method.arguments)
    command.addArgument(completes(new Argument(syntaxOf(spec, method), meaningOf(spec, method)), sourceOf(spec)));
  if (takesPlace(method)) {
    const meaning = `the group, or what else it is in, such as ${placeExample(noun)}; as --in`;
    command.addArgument(completes(new Argument("[place]", meaning), placeSource(noun)));
  }
  addKindOptions(command, method);
  for (const option of command.options) if (option.flags.endsWith("<place>")) completes(option, placeSource(noun));
  extension?.addOptions?.(command);
  addOutputOptions(command);
  addServerOptions(command);
  const fields = addFieldFlags(
    command,
    method.flags,
    kebab(method.body && method.body !== "*" ? method.body : noun.replace(/s$/, "")),
  );
  command.addHelpText("after", `\nExample:\n${foldedExample(extension?.example ?? exampleOf(noun, method, fields))}`);
  command.action(async (...received: unknown[]) => {
    const flags = command.opts<VerbFlags>();
    const words = received.slice(0, -2) as (string | string[] | undefined)[];
    const { runDelete, runVerb } = await import("./run.ts");
    const plain = words.map((word) => (Array.isArray(word) ? word[0] : word));
    const run = { noun, method, fields, words: plain, flags, ...(extension && { extension }) };
    const [first] = words;
    if (method.kind === "delete" && Array.isArray(first)) return runDelete(run, first);
    const place = takesPlace(method) ? run.words.at(-1) : undefined;
    return runVerb(place === undefined ? run : { ...run, flags: { ...flags, in: place } });
  });
}

/** The comment as a sentence. */
function sentence({ help, summary }: MethodSpec): string {
  return help === "" ? summary : help;
}

function takesPlace(method: MethodSpec): boolean {
  return method.kind === "list" && method.uidp === true && method.arguments.length === 0;
}

function addKindOptions(command: Command, { kind, uidp, paged, dryRun, body, masked }: MethodSpec): void {
  if (kind === "list") {
    if (uidp === true)
      command
        .option("--in <place>", "only what is in this group, or in what is below it; / for everything")
        .option("--children-of <place>", "only what is directly in it")
        .option("--root", "only what is in no group");
    command.option("--limit <number>", "at most so many; all unless given", count);
    if (paged !== undefined)
      command.option("--page-size <number>", "how many to ask for in one request, 200 at most", count);
    if (paged === "token")
      command
        .option("--order-by <fields>", "such as name, or 'createTime desc'")
        .option("--skip <number>", "leave out so many from the beginning", whole);
  }
  if (kind === "list" || kind === "get") addWatchOptions(command);
  if (body !== undefined && kind !== "list")
    command.option(
      "-f, --file <file>",
      `YAML or JSON of the ${body === "*" ? "request" : "resource"}; - for standard input`,
    );
  if (masked === true)
    command.option("--clear <field>", "empty this field (repeatable)", (name: string, before: string[] = []) => [
      ...before,
      name,
    ]);
  if (dryRun === true) command.option("--dry-run", "ask the server what it would do, and change nothing");
  if (kind === "delete") command.option("-y, --yes", "do not ask");
}

function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("it must be a whole number.");
  return Number(text);
}

function count(text: string): number {
  const number = whole(text);
  if (number === 0) throw new InvalidArgumentError("it must be at least 1.");
  return number;
}

function syntaxOf({ name }: ArgumentSpec, { kind }: MethodSpec): string {
  return kind === "delete" ? `<${name}...>` : `<${name}>`;
}

function meaningOf(spec: ArgumentSpec, method: MethodSpec): string {
  const example = argumentExample(spec);
  const input = spec.form === "text" || method.kind === "delete" ? "; - for standard input" : "";
  switch (spec.form) {
    case "new":
      return `the path of the new one, such as ${example}`;
    case "image":
      return `an image by tag or digest, such as ${example}`;
    case "tag":
      return `a tag of an image, such as ${example}`;
    case "ref":
      return spec.kind === undefined ? "its uid" : `by name or uid, such as ${KINDS[spec.kind].form}`;
    case "text":
      return `its ${spec.name}${input}`;
  }
}

function argumentExample({ form, kind, name, root }: ArgumentSpec): string {
  if (form === "image" || form === "tag") return "acme/app:1.2";
  if (form === "new") return kind === "repo" ? "acme/app:1.2" : root === true ? "acme or acme/team" : "acme/team/name";
  if (form === "text") return name.toUpperCase();
  return kind === undefined ? "UID" : (KINDS[kind].form.split(" or ")[0]?.split(",").at(-1)?.trim() ?? "");
}

/** What completes an argument: of what is new its parent. */
function sourceOf({ form, kind }: ArgumentSpec): Source {
  switch (form) {
    case "image":
    case "tag":
      return form;
    case "text":
      return "none";
    case "new":
      return kind === "repo" ? "tag" : (kind ?? "group");
    case "ref":
      return kind ?? "none";
  }
}

/** Tags are in repos, and what is listed of a repo's images too; a path of a repo begins with its group. */
function placeSource(noun: string): Source {
  return noun === "tags" || noun === "eol" ? "repo" : "group";
}

function placeExample(noun: string): string {
  return noun === "tags" ? "acme/app" : "acme/team";
}

function exampleOf(noun: string, method: MethodSpec, fields: readonly FieldFlag[]): string {
  const words = method.arguments.map((spec) => argumentExample(spec).split(" or ").at(-1) ?? "");
  const place = takesPlace(method) ? [placeExample(noun)] : [];
  const needed = fields
    .filter(({ field, path }) => field.required === true && path.length === 1)
    .map(
      ({ flag, field }) =>
        `${flag} ${field.ref === undefined ? valueExample(field) : quoted(KINDS[field.ref].form.split(" or ")[0] ?? "")}`,
    );
  const rest =
    method.kind === "update"
      ? ["--description text"].filter(() => fields.some(({ flag }) => flag === "--description"))
      : [];
  const verb = method.verb === noun ? [] : [method.verb];
  return ["moorage", noun, ...verb, ...words.map(quoted), ...place, ...needed, ...rest].join(" ");
}

function quoted(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text}'`;
}

const VALUE_EXAMPLES: Readonly<Partial<Record<FieldType, string>>> = {
  int32: "3",
  int64: "3",
  duration: "24h",
  timestamp: "2026-01-31",
  map: "key=value",
  message: "'{…}'",
};

function valueExample(field: FieldSpec): string {
  const { type, values } = field;
  const value = values?.at(-1);
  if (type === "enum" && value !== undefined) return shortValue(value, field);
  return VALUE_EXAMPLES[type] ?? "text";
}
