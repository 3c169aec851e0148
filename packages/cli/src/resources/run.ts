// What a verb does: the call, and what is printed of the response.
import { type Names, namesOf } from "../api/names.ts";
import { textIn } from "../api/json-fields.ts";
import { allPages } from "../api/paging.ts";
import { checkToken, type JsonObject, type ListOptions, openRest, type Query, type RestClient } from "../api/rest.ts";
import { EXIT } from "../command/exit-codes.ts";
import { UsageFailure } from "../command/failure.ts";
import type { ServerFlags } from "../command/global-options.ts";
import { interruption } from "../command/interrupt.ts";
import { formatOf } from "../output/format.ts";
import { type OutputFlags, printItem, printList, printMessage } from "../output/output.ts";
import type { WatchFlags } from "../terminal/watch-options.ts";
import type { Extension, Extra } from "./extension.ts";
import { saysItFails } from "./check-answers.ts";
import { KNOWLEDGE, knowledgeIn, unknownTexts } from "./knowledge.ts";
import { listingOf } from "./columns.ts";
import { resourceIn } from "./files.ts";
import type { FieldFlag } from "./flags.ts";
import { type Place, placeQuery } from "./place.ts";
import { type Given, prepare, type Prepared } from "./request.ts";
import { namedBy } from "../sign-ins.ts";
import type { MethodSpec } from "./spec.ts";

/** The flags of generated commands, besides those of fields. */
export type VerbFlags = ServerFlags &
  OutputFlags &
  WatchFlags &
  Place & {
    pageSize?: number;
    limit?: number;
    orderBy?: string;
    skip?: number;
    file?: string;
    clear?: string[];
    dryRun?: boolean;
    yes?: boolean;
  };

/** One run of a command. */
export interface Run {
  noun: string;
  method: MethodSpec;
  fields: readonly FieldFlag[];
  /** The arguments, in the order of the method's. */
  words: readonly (string | undefined)[];
  flags: VerbFlags;
  extension?: Extension;
}

/** Calls the method and prints what it answers. */
export async function runVerb(run: Run): Promise<void> {
  const { noun, method, flags } = run;
  const rest = await openRest(flags, { remembers: flags.watch === true, isPublic: method.isPublic === true });
  const names = namesOf(rest);
  if (method.kind === "list") return runList(run, rest, names);
  const extra = await extraOf(run, rest, names);
  const { path, options } = await preparedBy(run, rest, names, extra);
  const load = (): Promise<JsonObject> => rest.call(method.http, path, options);
  const listing = listingOf(noun, method.items ?? noun, method.response);
  const { pathOf } = names;
  if (flags.watch === true) {
    const { watchItem } = await import("../terminal/watch.ts");
    return watchItem(load, listing, flags, { signal: interruption(), pathOf });
  }
  const answer = await load();
  // Anybody may ask; whoever has a token that other commands could not use hears of it.
  if (noun === "ping") await checkToken(rest);
  if (flags.dryRun === true) printMessage("Dry run: nothing was changed");
  const isShown = extra?.finish !== undefined && ["table", "wide"].includes(formatOf(flags).kind);
  if (isShown) await extra.finish?.(answer);
  else if (method.items === undefined) printMessage("Done");
  else await printItem(answer, listing, flags, { pathOf });
  if (!isShown) await extra?.finish?.(answer);
  if (saysItFails(method.method, answer)) process.exitCode = EXIT.error;
  if (noun === "identities" && flags.dryRun !== true) await checkIssuer(run, rest, answer);
}

/** Says why tokens of the issuer that an identity was just given cannot be verified. */
async function checkIssuer({ method }: Run, rest: RestClient, answer: JsonObject): Promise<void> {
  if (method.kind !== "create" && method.kind !== "update") return;
  const { issuerIn, noteIssuerFaults } = await import("../issuer-check.ts");
  const issuer = issuerIn(answer);
  if (issuer !== undefined) await noteIssuerFaults(rest, [{ uid: textIn(answer, "uid"), issuer }], printMessage);
}

/** What the flags of the extension come to; undefined without. */
async function extraOf(
  { extension, fields, flags, words }: Run,
  rest: RestClient,
  names: Names,
): Promise<Extra | undefined> {
  const given = fields.filter(({ attribute }) => ({ ...flags })[attribute] !== undefined);
  return extension?.begin({ rest, names, words, flags: { ...flags }, fieldFlags: given.map(({ flag }) => flag) });
}

async function preparedBy(
  { method, fields, words, flags }: Run,
  rest: RestClient,
  names: Names,
  extra?: Extra,
): Promise<Prepared> {
  const file = extra?.resource ?? (flags.file === undefined ? undefined : await resourceIn(flags.file));
  const group = namedBy(flags).context?.group;
  const given: Given = {
    words,
    flags: fields,
    values: { ...flags, ...extra?.values },
    ...(file && { file }),
    ...(group !== undefined && { group }),
    ...(flags.clear && { clear: flags.clear }),
    ...(flags.dryRun === true && { dryRun: true }),
  };
  return prepare({ rest, names }, method, given);
}

async function runList(run: Run, rest: RestClient, names: Names): Promise<void> {
  const { noun, method, flags } = run;
  const place = method.uidp === true ? await placeQuery(noun, flags, names) : {};
  const { path, options } = await preparedBy(run, rest, names);
  const { pageSize, limit, orderBy, skip } = flags;
  const query: Query = { ...options.query, ...place, ...(method.paged === "token" && { orderBy, skip }) };
  let total: string | undefined;
  const listing = listingOf(noun, method.items ?? noun, method.response);
  const knowledgeOf = KNOWLEDGE[listing.field];
  const pages: JsonObject[] = [];
  const wanted: ListOptions = {
    query,
    ...(pageSize !== undefined && { pageSize }),
    ...(limit !== undefined && { limit }),
    onTotal: (count) => {
      total = count;
    },
    onPage: (page) => {
      if (knowledgeOf !== undefined) pages.push(knowledgeIn(page, listing.field));
    },
  };
  const load = (): AsyncGenerator<JsonObject> => itemsOf({ rest, method, path, body: options.body }, wanted);
  const knowledge = (): JsonObject => knowledgeOf?.(pages) ?? {};
  const extra = { totalCount: () => total, behind: knowledge, pathOf: names.pathOf };
  if (flags.watch !== true) {
    await printList(load(), listing, flags, extra);
    for (const text of unknownTexts(knowledge(), listing.field)) printMessage(`moorage: ${text}`);
    return;
  }
  const { watchList } = await import("../terminal/watch.ts");
  return watchList(load, listing, flags, { ...extra, signal: interruption() });
}

interface ListCall {
  rest: RestClient;
  method: MethodSpec;
  path: string;
  body: Prepared["options"]["body"];
}

function itemsOf({ rest, method, path, body }: ListCall, wanted: ListOptions): AsyncGenerator<JsonObject> {
  const { paged, items = "", http } = method;
  const content = typeof body === "object" && body !== null && !Array.isArray(body) ? body : {};
  const ask = async (query: Query, signal: AbortSignal | undefined): Promise<JsonObject> => {
    const stopped = signal && { signal };
    // A list that is asked for by POST takes its pages' fields in its body.
    if (http !== "GET")
      return rest.call(http, path, { body: { ...content, ...defined(query) }, reads: true, ...stopped });
    if (paged === undefined) return rest.call("GET", path, { query: { ...query, pageSize: undefined }, ...stopped });
    if (paged === "token") return rest.call("GET", path, { query, ...stopped });
    const { pageToken, ...others } = query;
    const page = await rest.call("GET", path, { query: { ...others, cursor: pageToken }, ...stopped });
    return { ...page, nextPageToken: page["more"] === true ? (page["nextCursor"] ?? "") : "" };
  };
  return allPages(ask, items, wanted);
}

function defined(query: Query): JsonObject {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined);
  return JSON.parse(JSON.stringify(Object.fromEntries(entries))) as JsonObject;
}

/** Deletes resources by their names; `-` reads names from standard input, one a line. */
export async function runDelete(run: Run, given: readonly string[]): Promise<void> {
  const { method, flags } = run;
  const targets = given.includes("-") ? await withInput(given) : given;
  if (targets.length === 0) throw new UsageFailure("there is nothing to delete");
  const { confirm } = await import("../terminal/confirm.ts");
  const { deletedManyWords, deletedWords } = await import("./delete-words.ts");
  const wordsOf = (target: string): string => deletedWords(run.noun, method, target);
  const what = targets.length === 1 ? wordsOf(targets[0] ?? "") : deletedManyWords(run.noun, targets);
  if (flags.dryRun !== true && !(await confirm(`Deletes ${what}.`, flags))) return printMessage("Nothing was deleted");
  const rest = await openRest(flags);
  const names = namesOf(rest);
  for (const target of targets) {
    const { path, options } = await preparedBy({ ...run, words: [target] }, rest, names);
    await rest.call(method.http, path, options);
    printMessage(flags.dryRun === true ? `Dry run: ${wordsOf(target)} would be deleted` : `Deleted ${wordsOf(target)}`);
  }
}

async function withInput(given: readonly string[]): Promise<string[]> {
  const { standardInput } = await import("./files.ts");
  const lines = (await standardInput()).split(/\r?\n/).map((line) => line.trim());
  return [...given.filter((name) => name !== "-"), ...lines.filter((line) => line !== "")];
}
