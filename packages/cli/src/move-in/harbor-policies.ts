// Rules of immutable tags and quotas of projects, as Harbor has them. Source: Harbor's api/v2.0/swagger.yaml.
import { isList, isObject } from "@moorage/kernel/lib/json";
import { type Glob, parseGlob } from "./globs.ts";
import type { SourcePolicy } from "./model.ts";

type Fields = Record<string, unknown>;

// Why a rule does not come that does nothing there.
const DISABLED = "is disabled there";

/** What a rule of immutable tags becomes in the repositories of its project, named with the project's name. */
export function* immutablePolicies(project: string, rule: Fields, repos: readonly string[]): Generator<SourcePolicy> {
  const source = `${project}: immutable tags, rule ${String(rule["id"])}`;
  const fault = (why: string): SourcePolicy => ({ kind: "policy", source, below: project, fault: why });
  if (rule["disabled"] === true) return yield fault(DISABLED);
  const tags = selectorsOf(rule["tag_selectors"], "matches");
  const scopes = isObject(rule["scope_selectors"]) ? rule["scope_selectors"]["repository"] : undefined;
  const names = selectorsOf(scopes, "repoMatches");
  if (tags === undefined || names === undefined || tags.length === 0)
    return yield fault("excludes names, or has a pattern with more than stars and braces");
  for (const repo of repos) {
    const short = repo.slice(project.length + 1);
    if (!names.every((glob) => glob.matches(short) || glob.matches(repo))) continue;
    // All selectors of a rule hold, and an expression here is one of them.
    const [only, second] = tags;
    if (only === undefined || second !== undefined) return yield fault("has more than one selector of tags");
    yield { kind: "policy", source: `${source}, ${short}`, below: repo, immutable: only.expression };
  }
}

/** The expressions of immutable tags by repository; undefined when a rule has no equivalent here. */
export function expressionsOf(policies: readonly SourcePolicy[]): Map<string, string[]> | undefined {
  const found = new Map<string, string[]>();
  for (const { below, immutable, fault } of policies) {
    if (fault === DISABLED) continue;
    if (immutable === undefined) return undefined;
    found.set(below, [...(found.get(below) ?? []), immutable]);
  }
  return found;
}

const UNLIMITED = -1;

/** The limit of the bytes of a project with this number, among the quotas listed for it; nothing for one without. */
export function* quotaPolicy(project: string, id: number, quotas: readonly Fields[]): Generator<SourcePolicy> {
  const base = { kind: "quota", source: `${project}: storage quota`, below: project } as const;
  const quota = quotas.find(({ ref }) => isObject(ref) && ref["id"] === id);
  if (quota === undefined) return yield { ...base, fault: "is not listed there: whether there is one is not known" };
  const { hard } = quota;
  const bytes = isObject(hard) ? hard["storage"] : undefined;
  if (bytes === UNLIMITED) return;
  if (typeof bytes === "number" && Number.isSafeInteger(bytes) && bytes > 0) yield { ...base, bytes };
  else yield { ...base, fault: "is no whole number of bytes above 0" };
}

/** A pattern of Harbor's rules, of which an empty one matches everything. */
export function parseGlobOrAll(text: string): Glob | undefined {
  return parseGlob(text === "" ? "**" : text);
}

/** The patterns of selectors. Undefined when one is of another kind. */
export function selectorsOf(
  listed: unknown,
  decoration: string,
  parse: (text: string) => Glob | undefined = parseGlob,
): Glob[] | undefined {
  if (!isList(listed)) return undefined;
  const globs: Glob[] = [];
  for (const each of listed) {
    if (!isObject(each) || each["kind"] !== "doublestar" || each["decoration"] !== decoration) return undefined;
    const glob = typeof each["pattern"] === "string" ? parse(each["pattern"]) : undefined;
    if (glob === undefined) return undefined;
    globs.push(glob);
  }
  return globs;
}
