// Harbor's rules of replication. Those that push become replications of the groups of their projects, without a
// password; those that pull are only said. Source: Harbor's api/v2.0/swagger.yaml, and where names go from
// src/controller/replication/flow.
import { isList, isObject } from "@moorage/kernel/lib/json";
import { type Glob, parseGlob } from "./globs.ts";
import { type Fields, textIn } from "./harbor-api.ts";
import { partsOf, placeOf, WITHOUT_PASSWORD } from "./harbor-registries.ts";
import type { Settings, SourcePolicy } from "./model.ts";

/** What a rule is for: projects, their repositories, and tags. */
interface Scope {
  /** Which of a project; undefined for all. */
  repoOf(project: string): Glob | "all" | undefined;
  tags: string;
}

const MAX_NAME = 128;
const KIBIBYTE = 1024;
const MAX_RATE = 2 ** 40;
const HOURLY = /^\d{1,2} \d{1,2} \* \* \* [*?]$/;
const DAILY = /^\d{1,2} \d{1,2} \d{1,2} \* \* [*?]$/;
const WEEKLY = /^\d{1,2} \d{1,2} \d{1,2} [*?] \* \d{1,2}$/;
// What stands before the first slash is about projects.
const NAME_FILTER = /^([^/]*)(?:\/(.+))?$/;

/** What a rule becomes: a replication of each of these projects that it is for. */
export function* replicationPolicies(rule: Fields, projects: readonly string[]): Generator<SourcePolicy> {
  const label = textIn(rule, "name") === "" ? String(rule["id"]) : textIn(rule, "name");
  const source = `replication ${label}`;
  const fault = (why: string): SourcePolicy => ({ kind: "replication", source, below: "", fault: why });
  const from = registryIn(rule, "src_registry");
  if (from !== undefined) return yield fault(pullsText(from));
  const to = registryIn(rule, "dest_registry");
  if (to === undefined) return yield fault("names no other registry");
  const place = placeOf(to);
  if (typeof place === "string") return yield fault(place);
  const name = nameOf(label);
  if (name === "") return yield fault("its name cannot be one here");
  const scope = scopeOf(rule["filters"] ?? []);
  if (typeof scope === "string") return yield fault(scope);
  const trigger = triggerOf(rule["trigger"]);
  const { notes: timing, ...when } = trigger;
  const rate = rateOf(rule["speed"]);
  const notes = [
    WITHOUT_PASSWORD,
    ...rate.notes,
    ...(rule["enabled"] === false ? ["is disabled there, too"] : []),
    ...timing,
  ];
  let any = false;
  for (const project of projects) {
    const repos = scope.repoOf(project);
    if (repos === undefined) continue;
    any = true;
    const destination = destinationOf(rule, place, project);
    const item = { kind: "replication" as const, source: `${source}, ${project}`, below: project };
    if (typeof destination === "string") {
      yield { ...item, fault: destination };
      continue;
    }
    const settings: Settings = {
      name,
      ...destination,
      repoPattern: repos === "all" ? "" : repos.pathExpression,
      tagPattern: scope.tags,
      ...when,
      deletions: isDeleting(rule) ? "REPLICATION_DELETIONS_FOLLOW" : "REPLICATION_DELETIONS_NEVER",
      onConflict: rule["override"] === true ? "REPLICATION_CONFLICT_OVERWRITE" : "REPLICATION_CONFLICT_STOP",
      ...rate.settings,
    };
    yield { ...item, settings, notes };
  }
  if (!any) yield fault("is for no project that comes");
}

/** The registry that a rule names; undefined for Harbor itself, which has the number 0. */
function registryIn(rule: Fields, name: string): Fields | undefined {
  const { [name]: registry } = rule;
  return isObject(registry) && registry["id"] !== 0 && registry["id"] !== undefined ? registry : undefined;
}

function pullsText(from: Fields): string {
  const place = placeOf(from);
  const where = typeof place === "string" ? "another registry" : place.host;
  return `pulls from ${where}: give a group an upstream for it, or a repo a source that it follows`;
}

function isDeleting(rule: Fields): boolean {
  return rule["replicate_deletion"] === true || rule["deletion"] === true;
}

function nameOf(label: string): string {
  const words = label.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const name = words.join("-");
  return name.length > MAX_NAME ? "" : name;
}

/** Harbor counts in kibibytes a second; 0 and less are no limit. */
function rateOf(speed: unknown): { settings: Settings; notes: string[] } {
  if (speed === undefined || speed === null || (typeof speed === "number" && speed <= 0))
    return { settings: {}, notes: [] };
  const rate = typeof speed === "number" && Number.isSafeInteger(speed) ? speed * KIBIBYTE : Infinity;
  return rate <= MAX_RATE
    ? { settings: { bytesPerSecond: rate }, notes: [] }
    : { settings: {}, notes: ["has no limit of its rate here: the one there cannot be read, or is none here"] };
}

/** When it runs. Other schedules than each hour, day and week are only said. */
function triggerOf(trigger: unknown): { onPush: boolean; interval?: string; notes: string[] } {
  const { type, trigger_settings: given } = isObject(trigger) ? trigger : {};
  if (type === "event_based") return { onPush: true, notes: [] };
  if (type !== "scheduled") return { onPush: false, notes: ["runs when it is asked to"] };
  const cron = isObject(given) ? textIn(given, "cron") : "";
  if (HOURLY.test(cron)) return { onPush: false, interval: "3600s", notes: [] };
  if (DAILY.test(cron)) return { onPush: false, interval: "86400s", notes: [] };
  if (WEEKLY.test(cron)) return { onPush: false, interval: "604800s", notes: [] };
  return { onPush: false, notes: [`runs when it is asked to: its schedule "${cron.slice(0, 100)}" has no equivalent`] };
}

/** Where the images of a project go, as a text why that has no equivalent. */
function destinationOf(rule: Fields, place: { host: string; path: string }, project: string): Settings | string {
  const { dest_namespace: given, dest_namespace_replace_count: count = -1 } = rule;
  const namespace = typeof given === "string" ? partsOf(given).join("/") : "";
  const at = (...parts: string[]): string => [place.host, place.path, ...parts].filter((part) => part !== "").join("/");
  if (namespace === "") return { destination: at(project), flatten: false };
  if (typeof count !== "number" || !Number.isSafeInteger(count)) return "says of no parts of names that they go";
  if (count < 0) return { destination: at(namespace), flatten: true };
  if (count === 0) return { destination: at(namespace, project), flatten: false };
  return count === 1
    ? { destination: at(namespace), flatten: false }
    : `leaves out ${count} parts of names there, of which here one or all but the last can go`;
}

/** What its filters let through, as a text why that has no equivalent. */
function scopeOf(filters: unknown): Scope | string {
  if (!isList(filters)) return "has no list of filters";
  const known = new Map<string, string>();
  for (const filter of filters) {
    const { type, value, decoration } = isObject(filter) ? filter : {};
    if (type === "resource" && (value === "image" || value === "artifact" || value === "")) continue;
    if ((type !== "name" && type !== "tag") || typeof value !== "string" || known.has(type))
      return "has a filter that has no equivalent here";
    if (decoration !== undefined && decoration !== null && decoration !== "" && decoration !== "matches")
      return "excludes names, which has no equivalent here";
    known.set(type, value);
  }
  const [, first = "", rest] = NAME_FILTER.exec(known.get("name") ?? "") ?? [];
  const tags = globOrAll(known.get("tag") ?? "");
  const projects = globOrAll(first);
  const repos = globOrAll(rest ?? "");
  // Two stars stand for any parts of a name, none included, which only at its end is the same here.
  const isSplit =
    rest === undefined ? first === "" || first === "**" : !first.includes("**") && !withoutEnd(rest).includes("**");
  if (tags === undefined || projects === undefined || repos === undefined || !isSplit)
    return "has a pattern that has no equivalent here";
  return {
    tags: tags === "all" ? "" : tags.expression,
    repoOf: (project) => (projects === "all" || projects.matches(project) ? repos : undefined),
  };
}

function withoutEnd(pattern: string): string {
  return pattern === "**" ? "" : pattern.endsWith("/**") ? pattern.slice(0, -3) : pattern;
}

/** A pattern, of which none, and two stars alone, match everything. */
function globOrAll(text: string): Glob | "all" | undefined {
  return text === "" || text === "**" ? "all" : parseGlob(text);
}
