// Pieces that the forms share: issuers, audiences, refs with wildcards, and how names are written in patterns.
import type { FormMatch, FormValues, FormWarning, MachineField, Problems, SnippetPlace } from "./form.ts";

/** The field of a form whose system may run at an address of its own. */
export const issuerField = (help: string): MachineField => ({ name: "issuer", label: "Issuer", help });

/** For whom tokens are made, where it is not the server's URL. */
export const AUDIENCE: MachineField = {
  name: "audience",
  label: "Audience",
  help: "for whom the tokens are made (aud); the URL of this server unless given",
};

/** A UUID. */
export const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** The text as a part of a pattern that matches it and nothing else. */
export function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** The name with wildcards as a part of a pattern: `*` is anything but a slash, `**` anything. */
export function globPattern(text: string): string {
  return text
    .split(/(\*+)/)
    .map((part) => (part === "*" ? "[^/]*" : part.startsWith("*") ? ".*" : literal(part)))
    .join("");
}

/** Whether a name has wildcards. */
export function isGlob(text: string): boolean {
  return text.includes("*");
}

/** The subject, by a pattern only where the name has wildcards. `around` gets the name, escaped for a pattern. */
export function subjectOf(
  name: string,
  around: (name: string) => string,
): Pick<FormMatch, "subject" | "subjectPattern"> {
  return isGlob(name) ? { subjectPattern: literalAround(around, name) } : { subject: around(name) };
}

function literalAround(around: (name: string) => string, name: string): string {
  // A character that no name has holds the place, so that what stands around is escaped by itself.
  return literal(around("\u0000")).replace("\u0000", () => globPattern(name));
}

/**
 * The issuer: that of the form, or `usual`. It must be an https URL without query and fragment; http is for providers
 * on the server's own machine.
 */
export function issuerOf(values: FormValues, problems: Problems, usual?: string): string {
  const issuer = values["issuer"] || usual;
  if (issuer === undefined) {
    problems.add("issuer", "is required: the URL in the claim iss of its tokens");
    return "";
  }
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  const isLoopback = url !== undefined && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  const isWeb = url !== undefined && (url.protocol === "https:" || (url.protocol === "http:" && isLoopback));
  if (!isWeb || /[?#*\s]/.test(issuer) || url.username !== "" || url.password !== "")
    problems.add("issuer", "must be an https URL, such as https://ci.example.com");
  return issuer;
}

/** `audience` of a match; empty without one, and the server's own then holds. */
export function audienceOf(values: FormValues, problems: Problems): { audience?: string } {
  const audience = values["audience"] ?? "";
  if (audience === "") return {};
  if (!AUDIENCE_FORM.test(audience)) problems.add("audience", "must be a URL or a name, without spaces and wildcards");
  return { audience };
}

// What stands between quotes of a shell and in a URL's query without being anything else there.
const AUDIENCE_FORM = /^[\w.:/@~+=-]+$/;

/** The audience that a snippet asks for. */
export function askedAudience(values: FormValues, { url }: SnippetPlace): string {
  return values["audience"] || url;
}

// What git refuses in the name of a branch or tag, and the quotes of shells.
const NOT_IN_REFS = /[\s~^:?[\\'"`$]|\.\.|^\/|\/$/;

/** A branch or tag; notes what can be no name of one. */
function refOf(values: FormValues, name: string, problems: Problems): string {
  const value = values[name] ?? "";
  if (value.startsWith("refs/")) problems.add(name, "must be the name alone, such as main, without refs/heads/");
  else if (NOT_IN_REFS.test(value)) problems.add(name, "must be a name that git allows, such as main or release/*");
  return value;
}

/** The fields of a branch and a tag, of which one is filled. */
export const BRANCH: MachineField = {
  name: "branch",
  label: "Branch",
  help: "main; or release/* (** goes across slashes)",
};
export const TAG: MachineField = { name: "tag", label: "Tag", help: "in place of a branch: v1.0, or v*" };

/** The branch or tag of a form: one of them is empty. Notes when both are there. */
export function branchOrTag(values: FormValues, problems: Problems): { branch: string; tag: string } {
  const branch = refOf(values, "branch", problems);
  const tag = refOf(values, "tag", problems);
  if (tag !== "" && branch !== "") problems.add("tag", "and a branch exclude each other: make an identity for each");
  return { branch, tag };
}

/** What a person should know of a branch or tag with wildcards. */
export function globWarning(kind: "branch" | "tag", name: string): FormWarning {
  const protect = kind === "branch" ? "branches" : "tags";
  return { text: `Whoever may make a ${kind} that matches ${name} can log in: protect such ${protect}.` };
}

/** `the branch main`, or `branches that match release/*`. */
export function refWords(kind: "branch" | "tag", name: string): string {
  if (!isGlob(name)) return `the ${kind} ${name}`;
  return `${kind === "branch" ? "branches" : "tags"} that match ${name}`;
}

/** The image that a snippet pushes: named after the project, below the identity's group. */
export function imageOf({ registry, group }: SnippetPlace, project: string): string {
  const name = project
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  return `${registry}/${group}/${name === "" ? "app" : name}:latest`;
}

/** `docker login`, which reads the token from standard input. */
export function loginLine({ registry, identity }: SnippetPlace): string {
  return `docker login ${registry} --username ${identity} --password-stdin`;
}

/** The text as a string of YAML, in double quotes where it must have some. */
export function yamlText(text: string): string {
  return /^[A-Za-z][\w./-]*$/.test(text) ? text : JSON.stringify(text);
}

/** The lines, each behind so many spaces. */
export function indented(columns: number, lines: readonly string[]): string {
  return lines.map((line) => `${" ".repeat(columns)}${line}`).join("\n");
}
