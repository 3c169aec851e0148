// Whether a rule of a plan is here already, for the plan and when it is applied.
import { numberIn, objectIn, objectsIn, textIn, textsIn } from "../api/json-fields.ts";
import { ApiFailure } from "../api/failure.ts";
import type { JsonObject, RestClient } from "../api/rest.ts";
import type { Here } from "./here.ts";
import type { PlanItem } from "./plan.ts";
import type { RetentionRule } from "./retention.ts";

/** What is here in place of a rule: nothing, the same, or something else, which stays. */
type RuleHere = { state: "absent" | "same" } | { state: "other"; why: string };

const NUMBERS = ["keepLast", "keepLastPulled"] as const;
const TIMES = ["keepFor", "keepPulledFor"] as const;
const ABSENT: RuleHere = { state: "absent" };
const SAME: RuleHere = { state: "same" };

/** Answers for a rule. Its repo or group may not be here yet. */
type RulesHere = (item: PlanItem) => Promise<RuleHere>;

/** Reads with the caller's rights. `keeps`: whether answers are kept, for who changes nothing meanwhile. */
export function openRulesHere(rest: RestClient, here: Here, { keeps }: { keeps: boolean }): RulesHere {
  const known = new Map<string, Promise<JsonObject>>();
  const policyOf = async (repo: string): Promise<JsonObject> => {
    const found = known.get(repo) ?? rest.call("GET", `/registry/v2/repos/${repo}`);
    if (keeps) known.set(repo, found);
    return objectIn(await found, "tagPolicy");
  };
  return async (item) => {
    const repo = here.repos.get(item.target)?.uid;
    const group = here.groups.get(item.target);
    if (isInRepo(item)) return repo === undefined ? ABSENT : inPolicy(item, await policyOf(repo));
    if (group === undefined) return ABSENT;
    if (item.kind === "quota") return quotaHere(rest, group, item);
    return item.kind === "replication" ? replicationHere(rest, group, item) : upstreamHere(rest, group, item);
  };
}

/** Whether an item is a part of a repo's policy. */
export function isInRepo({ kind }: Pick<PlanItem, "kind">): boolean {
  return kind === "policy" || kind === "retention" || kind === "gate";
}

function inPolicy({ kind, immutable = "", rules = [], settings }: PlanItem, policy: JsonObject): RuleHere {
  if (kind === "policy") return textsIn(policy, "immutableTags").includes(immutable) ? SAME : ABSENT;
  if (kind === "retention") {
    const now = objectsIn(policy, "retention");
    if (now.length === 0) return ABSENT;
    return sameRules(now, rules) ? SAME : { state: "other", why: "has rules of retention here" };
  }
  if (policy["vulnerabilities"] === undefined) return ABSENT;
  const gate = objectIn(policy, "vulnerabilities");
  const isSame = Object.entries(gateOf(settings)).every(([name, value]) => isEqual(gate[name], value));
  return isSame && gate["fixableOnly"] !== true && gate["kev"] !== true && numberIn(gate, "graceDays") === 0
    ? SAME
    : { state: "other", why: "has a gate here" };
}

/** The gate of an item: Harbor has images wait, too, until they are scanned, and looks at pulls alone. */
export function gateOf(settings: PlanItem["settings"]): JsonObject {
  return { ...settings, on: ["GATE_ACTION_PULL"], onUnknown: "ON_UNKNOWN_HOLD" };
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

async function quotaHere(rest: RestClient, group: string, { bytes = 0 }: PlanItem): Promise<RuleHere> {
  const now = await rest.call("GET", `/registry/v2/quotas/${group}`).catch((error: unknown): JsonObject | undefined => {
    if (error instanceof ApiFailure && error.httpStatus === 404) return undefined;
    throw error;
  });
  if (now === undefined) return ABSENT;
  if (textIn(now, "bytes") === "") return { state: "other", why: "has a quota here without a limit of bytes" };
  return numberIn(now, "bytes") === bytes ? SAME : { state: "other", why: `is ${textIn(now, "bytes")} bytes here` };
}

async function upstreamHere(rest: RestClient, group: string, { settings = {} }: PlanItem): Promise<RuleHere> {
  const query = { "uidp.children_of": group, page_size: 1 };
  const [now] = objectsIn(await rest.call("GET", "/registry/v2/upstreams", { query }), "registryUpstreams");
  if (now === undefined) return ABSENT;
  const isSame = textIn(now, "registry") === settings["registry"] && textIn(now, "prefix") === settings["prefix"];
  return isSame ? SAME : { state: "other", why: `stands for ${textIn(now, "registry")} here` };
}

async function replicationHere(rest: RestClient, group: string, { settings = {} }: PlanItem): Promise<RuleHere> {
  const name = String(settings["name"]);
  const query = { "uidp.children_of": group, name, page_size: 1 };
  const [now] = objectsIn(await rest.call("GET", "/registry/v2/replications", { query }), "replications");
  if (now === undefined) return ABSENT;
  const isSame = ["destination", "repoPattern", "tagPattern"].every((each) => textIn(now, each) === settings[each]);
  return isSame ? SAME : { state: "other", why: `there is a replication ${name} here that differs` };
}

function sameRules(now: readonly JsonObject[], rules: readonly RetentionRule[]): boolean {
  const same = (one: JsonObject | undefined, other: RetentionRule): boolean =>
    textIn(one, "tagPattern") === other.tagPattern &&
    NUMBERS.every((name) => Number(textIn(one, name)) === (other[name] ?? 0)) &&
    TIMES.every((name) => textIn(one, name) === (other[name] ?? ""));
  return now.length === rules.length && rules.every((rule, at) => same(now[at], rule));
}
