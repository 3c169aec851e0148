import { readFileSync, statSync } from "node:fs";
import { type DescMethod, type DescService, getOption } from "@bufbuild/protobuf";
import * as api from "@moorage/api/messages";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { ConfigError, settingError } from "@moorage/kernel/config";
import type { TermsDocument } from "@moorage/kernel/core/service";

// What a document with `required: true` blocks: creating resources, and pushing.
const USUALLY_BLOCKED: ReadonlySet<string> = new Set(["CreateRepo", "CreateIdentity", "CreateSubscription", "push"]);
// Accepting terms must always be possible, and so must accepting an invitation, because the invited person may be the
// one to accept the terms.
const NEVER_BLOCKED: ReadonlySet<string> = new Set(["AcceptTerms", "AcceptGroupInvite"]);
const MAX_FILE_BYTES = 1 << 20;
const MAX_DOCUMENTS = 100;
const MAX_LABEL_LENGTH = 200;
const MAX_URL_LENGTH = 2000;
const MAX_DEPTH = 8;
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/**
 * A method that can be blocked: its full name, its API area, and its own name. Pushing images belongs to the registry's
 * area.
 */
interface Blockable {
  what: string;
  area: string;
  name: string;
}

const BLOCKABLE: readonly Blockable[] = [
  ...Object.values<unknown>(api)
    .filter(isService)
    .flatMap((service) => service.methods)
    .filter(isBlockable)
    .map((method) => ({
      what: `${method.parent.typeName}.${method.name}`,
      area: method.parent.typeName.split(".")[1] ?? "",
      name: method.name,
    })),
  { what: "push", area: "registry", name: "push" },
];

/**
 * Reads the documents of the setting MOORAGE_TERMS_FILE: a JSON list of `{id, label, url, required}`. `required` is
 * false, true, or a list of what it blocks: API areas such as `registry`, methods such as `CreateRepo`, and `push`.
 * Deletes are never blocked. Throws a ConfigError that names the file and the entry.
 */
export function readTerms(file: string): TermsDocument[] {
  if (file === "") return [];
  const wrong = (problem: string, cause?: unknown): ConfigError =>
    settingError("termsFile", `${file}: ${problem}`, { cause });
  let entries: unknown;
  try {
    if (statSync(file).size > MAX_FILE_BYTES) throw wrong(`is larger than ${MAX_FILE_BYTES} bytes`);
    entries = parseJson(readFileSync(file, "utf8"), MAX_DEPTH);
  } catch (error) {
    throw error instanceof ConfigError ? error : wrong("cannot be read as JSON", error);
  }
  if (!Array.isArray(entries) || entries.length > MAX_DOCUMENTS)
    throw wrong(`must be a list of at most ${MAX_DOCUMENTS} documents`);
  const documents: TermsDocument[] = [];
  for (const [at, entry] of entries.entries()) {
    const read = documentOf(entry);
    const problem =
      typeof read === "string"
        ? read
        : documents.some(({ id }) => id === read.id)
          ? "the id is there already"
          : undefined;
    const shown = isObject(entry) && typeof entry["id"] === "string" ? ` (${entry["id"]})` : "";
    if (typeof read === "string" || problem !== undefined) throw wrong(`entry ${at + 1}${shown}: ${problem}`);
    documents.push(read);
  }
  return documents;
}

/** The document, or a description of what is wrong with it. */
function documentOf(entry: unknown): TermsDocument | string {
  if (!isObject(entry)) return "must be an object";
  const { id, label, url, required, ...rest } = entry;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) return `there is no field ${unknown}`;
  if (typeof id !== "string" || !ID.test(id)) return "id must be 1 to 128 letters, digits, dots, dashes or underscores";
  if (typeof label !== "string" || label.trim() === "" || label.length > MAX_LABEL_LENGTH)
    return `label must be a text of at most ${MAX_LABEL_LENGTH} characters`;
  if (typeof url !== "string" || url.length > MAX_URL_LENGTH || !/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
    return "url must be an http or https URL";
  const blocks = blocksOf(required);
  return typeof blocks === "string" ? blocks : { id, label, url, blocks };
}

function blocksOf(required: unknown): string[] | string {
  if (required === false) return [];
  if (required === true) return BLOCKABLE.filter(({ name }) => USUALLY_BLOCKED.has(name)).map(({ what }) => what);
  if (!Array.isArray(required) || required.length === 0)
    return "required must be true, false, or a list of what it blocks";
  const blocks = new Set<string>();
  for (const word of required as unknown[]) {
    const found = BLOCKABLE.filter(({ area, name }) => word === area || word === name);
    if (found.length === 0)
      return `required names ${JSON.stringify(word)}, which is no service area that writes and no method that can be blocked`;
    for (const { what } of found) blocks.add(what);
  }
  return [...blocks];
}

function isService(value: unknown): value is DescService {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "service";
}

function isBlockable(method: DescMethod): boolean {
  return (
    getOption(method, api.transaction) === api.Transaction.WRITE &&
    !/^(?:Batch)?Delete/.test(method.name) &&
    !NEVER_BLOCKED.has(method.name)
  );
}
