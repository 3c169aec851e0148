// Rules of retention of other registries, as rules here. There every rule has its say about a tag; here the first one
// whose pattern matches it decides. Where that makes a difference, more is kept here.
import { type Glob, isApart, isCovered } from "./globs.ts";

/** A rule here, as the API has it. */
export interface RetentionRule {
  tagPattern: string;
  keepLast?: number;
  /** In whole seconds, as `86400s`; `keepPulledFor` too. */
  keepFor?: string;
  keepPulledFor?: string;
  keepLastPulled?: number;
}

/** What a rule keeps of the tags that it matches: what any of these does. */
export interface Keeps {
  /** Whether it keeps all of them. */
  all?: boolean;
  /** So many, those that were moved last. */
  last?: number;
  /** Those that were moved within so many days. */
  days?: number;
  /** So many, those that were pulled last. */
  lastPulled?: number;
  /** Those that were pulled within so many days. */
  pulledDays?: number;
}

/** Rules for a repo, and in words where more is kept than there. */
export interface Retention {
  rules: RetentionRule[];
  notes: string[];
}

/** The most rules that a repo has. */
export const MAX_RULES = 64;
const DAY_S = 86_400;
/** Stands for "always", which a rule cannot say: a hundred years. */
const FOREVER_S = 100 * 365 * DAY_S;
const MAX_LAST = 2_147_483_647;
const MAX_LAST_PULLED = 10_000;
/** What refers to images by a tag stays as long as retention does not know whose it is. */
const REFERRERS = String.raw`sha256-.*`;

/**
 * The rules that come before others: what refers to images stays, and so do immutable tags, of which these are the
 * expressions.
 */
export function rulesBefore(immutable: readonly string[]): RetentionRule[] {
  return [keepingAll(REFERRERS), ...immutable.map(keepingAll)];
}

/** A rule that keeps all tags that the expression matches. */
function keepingAll(tagPattern: string): RetentionRule {
  return { tagPattern, keepFor: `${FOREVER_S}s` };
}

/** What any of two keeps. */
function unitedKeeps(one: Keeps, other: Keeps): Keeps {
  const most = (name: Exclude<keyof Keeps, "all">): number => Math.max(one[name] ?? 0, other[name] ?? 0);
  return {
    all: one.all === true || other.all === true,
    last: most("last"),
    days: most("days"),
    lastPulled: most("lastPulled"),
    pulledDays: most("pulledDays"),
  };
}

/** The rule; undefined when nothing would be kept, which no rule says. */
function ruleOf(tagPattern: string, keeps: Keeps): RetentionRule | undefined {
  const { all = false, last = 0, days = 0, lastPulled = 0, pulledDays = 0 } = keeps;
  if (all || last > MAX_LAST || lastPulled > MAX_LAST_PULLED) return keepingAll(tagPattern);
  if (last + days + lastPulled + pulledDays === 0) return undefined;
  const seconds = (count: number): string => `${Math.min(count * DAY_S, FOREVER_S)}s`;
  return {
    tagPattern,
    ...(last > 0 && { keepLast: last }),
    ...(days > 0 && { keepFor: seconds(days) }),
    ...(pulledDays > 0 && { keepPulledFor: seconds(pulledDays) }),
    ...(lastPulled > 0 && { keepLastPulled: lastPulled }),
  };
}

/**
 * The rules for a registry that keeps a tag when any of its rules does, and deletes all others. `immutable`: the
 * expressions of tags that it does not delete.
 */
export function retentionOfKeeping(
  parts: readonly { glob: Glob; keeps: Keeps }[],
  immutable: readonly string[],
): Retention {
  const merged = new Map<string, { glob: Glob; keeps: Keeps }>();
  for (const { glob, keeps } of parts) {
    const known = merged.get(glob.expression);
    merged.set(glob.expression, { glob, keeps: known === undefined ? keeps : unitedKeeps(known.keeps, keeps) });
  }
  // What matches less comes first, so that later rules decide about the rest.
  const all = [...merged.values()];
  const width = ({ glob }: { glob: Glob }): number => all.filter((other) => isCovered(other.glob, glob)).length;
  const sorted = all.toSorted((one, other) => width(one) - width(other));
  const notes = new Set<string>();
  const rules = rulesBefore(immutable);
  for (const [at, { glob, keeps }] of sorted.entries()) {
    // Tags of earlier rules do not come to this one; those of later ones may.
    const later = sorted.slice(at + 1).filter((other) => !isApart(glob, other.glob));
    let kept = keeps;
    for (const other of later) {
      const { last = 0, lastPulled = 0 } = other.keeps;
      const isCounted = (last > 0 || lastPulled > 0) && !isCovered(glob, other.glob);
      if (isCounted) notes.add(`all of ${glob.expression} stay, since ${other.glob.expression} may match some of them`);
      kept = unitedKeeps(kept, isCounted ? { all: true } : other.keeps);
    }
    const rule = ruleOf(glob.expression, kept);
    if (rule === undefined) notes.add(`all of ${glob.expression} stay, since no rule here keeps nothing`);
    else rules.push(rule);
  }
  if (!sorted.some(({ glob }) => glob.isAll)) notes.add("tags that no rule matches stay");
  return { rules, notes: [...notes] };
}
