// Rules of retention of Harbor's projects. Source: Harbor's api/v2.0/swagger.yaml, and the templates of rules in
// src/pkg/retention/policy/rule.
import { isList, isObject } from "@moorage/kernel/lib/json";
import type { Glob } from "./globs.ts";
import { parseGlobOrAll, selectorsOf } from "./harbor-policies.ts";
import type { SourcePolicy } from "./model.ts";
import { type Keeps, MAX_RULES, retentionOfKeeping } from "./retention.ts";

type Fields = Record<string, unknown>;

/** What rules of retention are read with. */
interface ProjectTags {
  name: string;
  /** The repositories that come, with the project's name. */
  repos: readonly string[];
  /** What the rules of immutable tags become, by repository; undefined when some cannot come. */
  immutable: ReadonlyMap<string, readonly string[]> | undefined;
  /** Whether an image of the repository has more than one tag. */
  hasSharedImages(repo: string): boolean;
}

interface Rule {
  tags: Glob;
  repos: readonly Glob[];
  keeps: Keeps;
}

const MAX_RULES_THERE = 32;
const MAX_NUMBER = 1e9;
const NUMBERED: Readonly<Record<string, (count: number) => Keeps>> = {
  latestPushedK: (last) => ({ last }),
  nDaysSinceLastPush: (days) => ({ days }),
  lastXDays: (days) => ({ days }),
  latestPulledN: (lastPulled) => ({ lastPulled }),
  // Of the times of push and pull the later one, as here.
  latestActiveK: (lastPulled) => ({ lastPulled }),
  nDaysSinceLastPull: (pulledDays) => ({ pulledDays }),
};

/** What a project's rules of retention become, for each of its repositories that they are for. */
export function* retentionPolicies(project: ProjectTags, policy: Fields): Generator<SourcePolicy> {
  const source = `${project.name}: retention`;
  const base = { kind: "retention" as const, source, below: project.name };
  const cannot = (why: string): SourcePolicy => ({ ...base, fault: `${why}: nothing is deleted here` });
  const { rules: listed, algorithm } = policy;
  if (!isList(listed)) return yield cannot("has no list of rules");
  const enabled = listed.filter((rule) => !isObject(rule) || rule["disabled"] !== true);
  if (enabled.length === 0) return;
  if (enabled.length > MAX_RULES_THERE) return yield cannot(`has more than ${MAX_RULES_THERE} rules`);
  if (algorithm !== "or") return yield cannot("its rules are not joined by or");
  if (isRunByHand(policy)) return yield cannot("is run by hand alone there");
  if (project.immutable === undefined)
    return yield cannot("excepts immutable tags there, and not all rules of those can come");
  const rules: Rule[] = [];
  for (const [at, value] of enabled.entries()) {
    const rule = isObject(value) ? parseRule(value) : "is no rule";
    if (typeof rule === "string") return yield cannot(`rule ${at + 1} ${rule}`);
    rules.push(rule);
  }
  for (const repo of project.repos) {
    const short = repo.slice(project.name.length + 1);
    const fit = rules.filter(({ repos }) => repos.every((glob) => glob.matches(short) || glob.matches(repo)));
    if (fit.length === 0) continue;
    const item = { ...base, source: `${source}, ${short}`, below: repo };
    const parts = fit.map(({ tags, keeps }) => ({ glob: tags, keeps }));
    const { rules: here, notes } = retentionOfKeeping(parts, project.immutable.get(repo) ?? []);
    if (project.hasSharedImages(repo))
      yield {
        ...item,
        fault: "has images with several tags, all of which Harbor keeps or none: nothing is deleted here",
      };
    else if (here.length > MAX_RULES)
      yield { ...item, fault: `would need more than ${MAX_RULES} rules: nothing is deleted here` };
    else yield { ...item, rules: here, notes };
  }
}

/** Without a schedule nothing is deleted there until somebody asks for it. */
function isRunByHand({ trigger }: Fields): boolean {
  const settings = isObject(trigger) ? trigger["settings"] : undefined;
  const cron = isObject(settings) ? settings["cron"] : undefined;
  return typeof cron !== "string" || cron.trim() === "";
}

/** The rule; why it has no equivalent here, as a text. */
function parseRule({ action, template, params, tag_selectors: tags, scope_selectors: scopes }: Fields): Rule | string {
  if (action !== "retain") return "does something other than to retain";
  const names = selectorsOf(isObject(scopes) ? scopes["repository"] : undefined, "repoMatches", parseGlobOrAll);
  const [only, second] = selectorsOf(tags, "matches", parseGlobOrAll) ?? [];
  if (names === undefined || only === undefined)
    return "excludes names, or has a pattern with more than stars and braces";
  if (second !== undefined) return "has more than one selector of tags";
  const keeps = keepsOf(template, params);
  return keeps === undefined
    ? "has a template or a number that is not known here"
    : { tags: only, repos: names, keeps };
}

function keepsOf(template: unknown, params: unknown): Keeps | undefined {
  if (template === "always") return { all: true };
  if (template === "nothing") return {};
  if (typeof template !== "string" || !Object.hasOwn(NUMBERED, template)) return undefined;
  const value = isObject(params) ? params[template] : undefined;
  const count = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  if (typeof count !== "number" || !Number.isSafeInteger(count) || count < 0 || count > MAX_NUMBER) return undefined;
  return NUMBERED[template]?.(count);
}
