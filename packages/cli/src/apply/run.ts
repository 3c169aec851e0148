// What `moorage apply` does, from its flags to its exit code.
import { callerIdentity } from "../caller-identity.ts";
import { namesOf } from "../api/names.ts";
import { openRest, type JsonObject, type RestClient } from "../api/rest.ts";
import { EXIT } from "../command/exit-codes.ts";
import { lineOf, UsageFailure } from "../command/failure.ts";
import { interruption } from "../command/interrupt.ts";
import { issuerIn, noteIssuerFaults } from "../issuer-check.ts";
import { formatOf } from "../output/format.ts";
import type { Listing } from "../output/listing.ts";
import { printList } from "../output/output.ts";
import { confirm } from "../terminal/confirm.ts";
import { isInteractive } from "../terminal/question.ts";
import { type Applied, applyAll } from "./all.ts";
import type { Action } from "./one.ts";
import type { ApplyFlags } from "./flags.ts";
import { type Declared, declaredIn } from "./parse.ts";
import { type Surplus, surplusOf } from "./prune.ts";
import { dependenciesOf, indexOf, uidsOf } from "./references.ts";
import { existingOn, type Server } from "./server.ts";
import { createPrinter, type Printer } from "./show.ts";
import { type Problem, throwProblems } from "./source.ts";

/** The exit code of a dry run that found changes, where `--exit-code` asks for it. */
const CHANGES_FOUND = 8;

/** A line of the result. */
interface Result {
  kind: string;
  name: string;
  uid: string;
  action: Action;
  error?: string;
}

/** Applies the files that the flags name. Returns the exit code. */
export async function apply(flags: ApplyFlags): Promise<number> {
  if (flags.print !== undefined) {
    const { printManifest } = await import("./print.ts");
    return await printManifest(flags.print, flags);
  }
  checkFlags(flags);
  const { dryRun: isDryRun = false } = flags;
  const printer = createPrinter(isDryRun);
  const problems: Problem[] = [];
  const all = await declaredIn(flags.file ?? [], problems);
  throwProblems(problems, (line) => printer.line(line, "red"));
  const rest = await openRest(flags);
  const made = new Map<Declared, string>();
  const applied = await applyTo(rest, all, made, printer, flags);
  const results = applied.map(resultOf);
  const hasFailed = results.some(({ action }) => action === "failed" || action === "skipped");
  if (flags.prune === true) {
    if (hasFailed) printer.line("nothing is deleted, as not all could be applied", "yellow");
    else results.push(...(await prune(rest, all, made, printer, flags)));
  }
  if (!isDryRun) await checkIssuers(rest, applied, printer);
  printer.sum(results.map(({ action }) => action));
  await printResults(results, flags);
  if (results.some(({ action }) => action === "failed" || action === "skipped")) return EXIT.error;
  const isChanged = results.some(({ action }) => action !== "unchanged" && action !== "kept");
  return isDryRun && flags.exitCode === true && isChanged ? CHANGES_FOUND : EXIT.ok;
}

/** Says of the identities that were made or changed which issuers' tokens cannot be verified. */
async function checkIssuers(rest: RestClient, applied: readonly Applied[], printer: Printer): Promise<void> {
  const given = applied.flatMap(({ declared: { spec, fields }, outcome: { action, uid } }) => {
    const issuer = spec.kind === "identity" ? issuerIn(fields) : undefined;
    return issuer !== undefined && (action === "created" || action === "updated") ? [{ uid, issuer }] : [];
  });
  await noteIssuerFaults(rest, given, (text) => printer.line(text, "yellow"));
}

function checkFlags({ file = [], dryRun, exitCode, prune, pruneRepos, tags, yes }: ApplyFlags): void {
  if (file.length === 0) throw new UsageFailure("is needed: a file, a folder, or -", { field: "--file" });
  if (exitCode === true && dryRun !== true) throw new UsageFailure("goes with --dry-run", { field: "--exit-code" });
  if (pruneRepos === true && prune !== true) throw new UsageFailure("goes with --prune", { field: "--prune-repos" });
  if (tags === true) throw new UsageFailure("goes with --print", { field: "--tags" });
  // Before anything is changed.
  if (prune === true && dryRun !== true && yes !== true && !isInteractive())
    throw new UsageFailure("nobody is there to ask", {
      field: "--prune",
      hint: "add --yes, or --dry-run to see what would be removed",
    });
}

async function applyTo(
  rest: RestClient,
  all: readonly Declared[],
  made: Map<Declared, string>,
  printer: Printer,
  { dryRun: isDryRun = false, secrets: sendsSecrets = false }: ApplyFlags,
): Promise<Applied[]> {
  const index = indexOf(all);
  const names = namesOf(rest);
  const dependencies = new Map(all.map((one) => [one, dependenciesOf(one, index)]));
  const beside = Map.groupBy(all, ({ spec, parent }) => `${spec.name} ${parent}`);
  const workings = {
    server: rest,
    existing: existingOn(rest),
    uidOf: uidsOf(index, names, made),
    pathOf: names.pathOf,
    isDryRun,
    sendsSecrets,
    wantedBeside: ({ spec, parent }: Declared) => beside.get(`${spec.name} ${parent}`)?.length ?? 0,
  };
  return await applyAll(workings, all, {
    dependenciesOf: (one) => dependencies.get(one) ?? [],
    onDone: printer.show,
    signal: interruption(),
    made,
  });
}

/** Lists what is to go, asks, and deletes it. */
async function prune(
  rest: RestClient,
  all: readonly Declared[],
  made: ReadonlyMap<Declared, string>,
  printer: Printer,
  flags: ApplyFlags,
): Promise<Result[]> {
  const surplus = await surplusOf(all, {
    server: rest,
    existing: existingOn(rest),
    pathOf: namesOf(rest).pathOf,
    made,
    caller: await callerIdentity(flags),
    takesRepos: flags.pruneRepos === true,
  });
  for (const { label, kept } of surplus)
    printer.line(kept === undefined ? `- ${label}` : `  ${label} is kept: ${kept}`, kept === undefined ? "red" : "dim");
  const going = surplus.filter(({ kept }) => kept === undefined);
  const stays = surplus.filter(({ kept }) => kept !== undefined).map((one) => pruned(one, "kept"));
  if (flags.dryRun === true) {
    const results: Result[] = [];
    for (const one of going) results.push(await deleteOne(rest, one, printer, true));
    return [...results, ...stays];
  }
  if (going.length === 0) return stays;
  const text = `Deletes ${going.length === 1 ? "this resource" : `these ${going.length} resources`}.`;
  if (!(await confirm(text, flags))) return [...going.map((one) => pruned(one, "kept")), ...stays];
  const results: Result[] = [];
  for (const one of going) results.push(await deleteOne(rest, one, printer));
  return [...results, ...stays];
}

// In a dry run what is in these, or names them, is there still, so that the server would refuse.
const EMPTIED_FIRST: ReadonlySet<string> = new Set(["group", "role", "provider"]);

async function deleteOne(server: Server, one: Surplus, printer: Printer, isDryRun = false): Promise<Result> {
  try {
    if (!isDryRun) await server.call("DELETE", `${one.spec.path}/${one.uid}`);
    else if (!EMPTIED_FIRST.has(one.spec.kind))
      await server.call("DELETE", `${one.spec.path}/${one.uid}`, { query: { validateOnly: true } });
    return pruned(one, "deleted");
  } catch (error) {
    interruption().throwIfAborted();
    printer.line(`${one.label}: ${lineOf(error)}`, "red");
    return { ...pruned(one, "failed"), error: lineOf(error) };
  }
}

function resultOf({ declared, outcome }: Applied): Result {
  const { action, uid, error } = outcome;
  return {
    kind: declared.spec.name,
    name: declared.path,
    uid,
    action,
    ...(error !== undefined && { error: lineOf(error) }),
  };
}

function pruned({ spec, label, uid }: Surplus, action: Action): Result {
  return { kind: spec.name, name: label.slice(spec.name.length + 1), uid, action };
}

const LISTING: Listing = {
  field: "resources",
  columns: [
    { header: "KIND", value: (item) => String(item["kind"]) },
    { header: "NAME", value: (item) => String(item["name"]) },
    { header: "ACTION", value: (item) => String(item["action"]) },
    { header: "UID", value: (item) => String(item["uid"]), wide: true },
  ],
  nameOf: (item) => `${String(item["kind"])} ${String(item["name"])}`,
  idOf: (item) => String(item["uid"]),
};

/** Prints the result on standard output, where a format is asked for. */
async function printResults(results: readonly Result[], flags: ApplyFlags): Promise<void> {
  const isAsked = flags.output !== undefined || flags.jq !== undefined || formatOf(flags).kind !== "table";
  if (!isAsked) return;
  async function* items(): AsyncGenerator<JsonObject> {
    for (const result of results) yield { ...result };
  }
  await printList(items(), LISTING, flags);
}
