// Policies of pruning and of immutable tags, as Quay has them for organizations and repositories. Source: Quay's
// endpoints/api/policy.py and endpoints/api/immutability_policy.py.
import { isList, isObject } from "@moorage/kernel/lib/json";
import { compilePattern, PatternError } from "@moorage/kernel/lib/patterns";
import type { SourceClient } from "./client.ts";
import type { SourcePolicy } from "./model.ts";
import { MAX_RULES, rulesBefore, type RetentionRule } from "./retention.ts";
import { isOfOne, SourceError } from "./source-error.ts";

type Fields = Record<string, unknown>;

/** The policies of a place, or why they are not known. */
interface Listed {
  policies: Fields[];
  fault?: string;
}

const API = "/api/v1";
const MAX_POLICIES = 50;
const MAX_COUNT = 2_147_483_647;
const MAX_SECONDS = 100 * 365 * 86_400;
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800, y: 31_536_000 };
const NO_EQUIVALENT = "its pattern has no equivalent here";

/** What the policies of these repositories and their organizations become, by repository. */
export async function* quayPolicies(client: SourceClient, repos: readonly string[]): AsyncGenerator<SourcePolicy> {
  const ofNamespace = new Map<string, { prune: Listed; immutable: Listed }>();
  for (const repo of repos) {
    const [namespace = ""] = repo.split("/");
    const above =
      ofNamespace.get(namespace) ?? (await listsOf(client, `organization/${encodeURIComponent(namespace)}`));
    ofNamespace.set(namespace, above);
    const own = await listsOf(client, `repository/${repo.split("/").map(encodeURIComponent).join("/")}`);
    const immutable = immutableOf(repo, [own.immutable, above.immutable]);
    yield* immutable;
    yield* retentionOf(repo, [own.prune, above.prune], immutable);
  }
}

async function listsOf(client: SourceClient, place: string): Promise<{ prune: Listed; immutable: Listed }> {
  const list = async (kind: string): Promise<Listed> => {
    try {
      // Without that feature the source has no such list, and no policies.
      const body = await client.json(`${API}/${place}/${kind}/`);
      if (body === undefined) return { policies: [] };
      const policies = isObject(body) ? body["policies"] : undefined;
      if (!isList(policies)) throw new SourceError(`the source has no list of its ${kind}`);
      if (policies.length > MAX_POLICIES) throw new SourceError(`has more than ${MAX_POLICIES} policies`);
      return { policies: policies.map((each) => (isObject(each) ? each : {})) };
    } catch (error) {
      if (!isOfOne(error)) throw error;
      return { policies: [], fault: error.message };
    }
  };
  return { prune: await list("autoprunepolicy"), immutable: await list("immutabilitypolicy") };
}

/** The tags of a repository that never move, from its own policies and those above. */
function immutableOf(repo: string, lists: readonly Listed[]): SourcePolicy[] {
  const base = { kind: "policy" as const, below: repo };
  const source = `${repo}: immutable tags`;
  return lists.flatMap(({ policies, fault }, at): SourcePolicy[] => {
    const of = at === 0 ? source : `${source}, of the organization`;
    if (fault !== undefined) return [{ ...base, source: of, fault }];
    return policies.map((policy, number): SourcePolicy => {
      const pattern = patternOf(policy, (text) => text);
      const item = { ...base, source: `${of}, policy ${number + 1}` };
      if (pattern === undefined || pattern === "") return { ...item, fault: NO_EQUIVALENT };
      return { ...item, immutable: pattern };
    });
  });
}

/** The rules of a repository. Quay deletes what any of them names; here the first decides: no more is deleted. */
function* retentionOf(
  repo: string,
  lists: readonly Listed[],
  immutable: readonly SourcePolicy[],
): Generator<SourcePolicy> {
  const base = { kind: "retention" as const, source: `${repo}: pruning`, below: repo };
  for (const { fault } of lists) if (fault !== undefined) yield { ...base, source: `${base.source}, not read`, fault };
  const rules = new Map<string, RetentionRule>();
  const notes = new Set<string>();
  for (const [at, policy] of lists.flatMap(({ policies }) => policies).entries()) {
    const rule = ruleOf(policy);
    if (typeof rule === "string") {
      yield { ...base, source: `${base.source}, policy ${at + 1}`, fault: rule };
      continue;
    }
    const known = rules.get(rule.tagPattern);
    rules.set(rule.tagPattern, known === undefined ? rule : joined(known, rule, notes));
  }
  if (rules.size === 0) return;
  if (immutable.some(({ fault }) => fault !== undefined))
    return yield {
      ...base,
      fault: "excepts immutable tags there, and not all policies of those can come: nothing is deleted here",
    };
  if (rules.size > 1) notes.add("of a tag that several policies match the first alone decides");
  // What is for all tags comes last.
  const sorted = [...rules.values()].toSorted(
    (one, other) => Number(one.tagPattern === "") - Number(other.tagPattern === ""),
  );
  const kept = immutable.flatMap((policy) => policy.immutable ?? []);
  const all = [...rulesBefore(kept), ...sorted];
  if (all.length > MAX_RULES) yield { ...base, fault: `needs more than ${MAX_RULES} rules: nothing is deleted here` };
  else yield { ...base, rules: all, notes: [...notes] };
}

/** Two policies of one pattern: of a kind the stricter one; of two kinds what either keeps. */
function joined(one: RetentionRule, other: RetentionRule, notes: Set<string>): RetentionRule {
  const last = [one.keepLast, other.keepLast].filter((each) => each !== undefined);
  const seconds = [one.keepFor, other.keepFor].flatMap((text) =>
    text === undefined ? [] : [Number.parseInt(text, 10)],
  );
  if (last.length > 0 && seconds.length > 0) notes.add("by number and by age: what either of both keeps stays");
  return {
    tagPattern: one.tagPattern,
    ...(last.length > 0 && { keepLast: Math.min(...last) }),
    ...(seconds.length > 0 && { keepFor: `${Math.min(...seconds)}s` }),
  };
}

/** The rule; why it has no equivalent here, as a text. */
function ruleOf(policy: Fields): RetentionRule | string {
  const { method, value } = policy;
  // Quay looks for it anywhere in a tag.
  const tagPattern = patternOf(policy, (text) => `.*(?:${text}).*`);
  if (tagPattern === undefined) return NO_EQUIVALENT;
  if (method === "number_of_tags") {
    const isCount = typeof value === "number" && Number.isSafeInteger(value) && value > 0 && value <= MAX_COUNT;
    return isCount ? { tagPattern, keepLast: value } : "its number is none";
  }
  if (method !== "creation_date") return "its method is not known here";
  const [, count = "", unit = ""] = /^(\d{1,9})([smhdwy])$/.exec(typeof value === "string" ? value : "") ?? [];
  const seconds = Math.min(Number(count) * (UNITS[unit] ?? 0), MAX_SECONDS);
  return seconds > 0 ? { tagPattern, keepFor: `${seconds}s` } : "its time is none";
}

/** The expression for whole tags; empty without one, undefined when it has no equivalent. */
function patternOf({ tagPattern, tagPatternMatches }: Fields, whole: (text: string) => string): string | undefined {
  if (tagPattern === undefined || tagPattern === null || tagPattern === "") return "";
  if (typeof tagPattern !== "string") return undefined;
  if (tagPatternMatches !== undefined && tagPatternMatches !== null && tagPatternMatches !== true) return undefined;
  try {
    // By itself first: `a)|(b` would be one only between the parentheses.
    compilePattern(tagPattern);
    compilePattern(whole(tagPattern));
    return whole(tagPattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return undefined;
  }
}
