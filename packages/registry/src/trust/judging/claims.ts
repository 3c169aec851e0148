import type { Claims, Scalar } from "../claims/claims.ts";
import { SLSA_TYPES } from "../claims/provenance.ts";
import type { CompiledCondition, CompiledProvenance, CompiledRule, SignatureFact } from "./types.ts";

/** What what was signed lacks of what a rule asks of it. */
export interface Lack {
  /** In words. */
  reason: string;
  /** Whether that is not known: `waiting` until it is verified again, `unknown` where not all of it is kept. */
  doubt?: "waiting" | "unknown";
}

/** So far ahead a clock may be whose times are believed. */
const AHEAD_MS = 5 * 60_000;

/** Whether the rule asks for more than who signed what kind of thing when. */
export function asksForClaims({ annotations, sameName, provenance, conditions }: CompiledRule): boolean {
  return annotations.length > 0 || sameName || provenance !== undefined || conditions.length > 0;
}

/** Whether it is of the kind that the rule asks for. */
export function isOfKind({ predicateType }: Pick<SignatureFact, "predicateType">, rule: CompiledRule): boolean {
  // Without a type of its own, a rule of provenance takes each version that is read.
  if (rule.provenance !== undefined && rule.predicateType === "") return SLSA_TYPES.has(predicateType);
  return predicateType === rule.predicateType;
}

/** The first thing that it lacks of what the rule asks for; undefined for nothing. `path`: of the image. */
export function lackOf({ claims }: SignatureFact, rule: CompiledRule, path: string, nowMs: number): Lack | undefined {
  if (!asksForClaims(rule)) return undefined;
  if (claims === undefined) return { reason: "what it says is not read yet", doubt: "waiting" };
  const doubtOf = (reason: string): Lack =>
    claims.leftOut === 0
      ? { reason }
      : { reason: `${reason}, as far as it is kept here: ${claims.leftOut} more values are not`, doubt: "unknown" };
  const name = rule.sameName ? nameLack(claims, path) : undefined;
  if (name !== undefined) return doubtOf(name);
  for (const [key, value] of rule.annotations) {
    const is = Object.hasOwn(claims.annotations, key) ? claims.annotations[key] : undefined;
    // One that is kept says something else: what is not kept has other names.
    if (is !== undefined && is !== value) return { reason: `its annotation ${key} is another one` };
    if (is === undefined) return doubtOf(`it has no annotation ${key}`);
  }
  const build = rule.provenance === undefined ? undefined : buildLack(claims, rule.provenance);
  if (build !== undefined) return { reason: build };
  for (const condition of rule.conditions) {
    const found = claims.values.find(([pointer]) => pointer === condition.pointer);
    if (found === undefined) return doubtOf(`it says no single value at ${condition.pointer}`);
    const not = valueLack(found[1], condition, nowMs);
    if (not !== undefined) return { reason: `${condition.pointer} ${not}` };
  }
  return undefined;
}

/** When some of it begins or ends to be met by the time alone. */
export function turnsOf({ claims }: SignatureFact, { conditions }: CompiledRule): number[] {
  return conditions.flatMap(({ pointer, newerThanMs }) => {
    const found = newerThanMs === undefined ? undefined : claims?.values.find((each) => each[0] === pointer);
    const ms = found === undefined ? undefined : timeOf(found[1]);
    return ms === undefined || newerThanMs === undefined ? [] : [ms - AHEAD_MS, ms + newerThanMs];
  });
}

function nameLack({ names }: Claims, path: string): string | undefined {
  if (names.length === 0) return "it does not say what the image is called";
  return names.some((name) => imagePathIn(name) === path) ? undefined : `it is of an image that is called ${names[0]}`;
}

/** The name of an image without its host, tag and digest: a registry may have several hosts. */
function imagePathIn(reference: string): string {
  const plain = reference.split("@", 1)[0] ?? "";
  const [first = "", ...rest] = plain.split("/");
  const isHost = rest.length > 0 && (first.includes(".") || first.includes(":") || first === "localhost");
  const parts = isHost ? rest : [first, ...rest];
  const last = parts.pop() ?? "";
  return [...parts, last.split(":", 1)[0]].join("/");
}

function buildLack({ build }: Claims, asked: CompiledProvenance): string | undefined {
  if (build === undefined) return "it is not SLSA provenance 0.2 or 1";
  if (!isOneOf(build.builderId, asked.builderIds)) return `it was built by ${build.builderId || "nobody named"}`;
  if (!isOneOf(build.buildType, asked.buildTypes)) return `it was built as ${build.buildType || "nothing named"}`;
  const { sources } = build;
  const asksSource = asked.sourceUris.length > 0 || asked.sourceRefs.length > 0;
  if (asksSource && sources.length === 0) return "it does not say from which source it was built";
  // Where it names several, none may be another one.
  const other = sources.find(({ uri }) => !isOneOf(uri, asked.sourceUris));
  if (other !== undefined) return `it was built from ${other.uri}`;
  const ref = sources.find((each) => !isOneOf(each.ref, asked.sourceRefs))?.ref;
  return ref === undefined ? undefined : `it was built from ${ref === "" ? "no branch or tag that it names" : ref}`;
}

function isOneOf(value: string, all: readonly string[]): boolean {
  return all.length === 0 || all.includes(value);
}

function valueLack(value: Scalar, condition: CompiledCondition, nowMs: number): string | undefined {
  const { values, atLeast, atMost, newerThanMs } = condition;
  if (values.length > 0 && !values.includes(String(value))) return `is ${JSON.stringify(value).slice(0, 100)}`;
  if (atLeast !== undefined || atMost !== undefined) {
    if (typeof value !== "number") return "is not a number";
    if (atLeast !== undefined && value < atLeast) return `is ${value}, less than ${atLeast}`;
    if (atMost !== undefined && value > atMost) return `is ${value}, more than ${atMost}`;
  }
  if (newerThanMs === undefined) return undefined;
  const ms = timeOf(value);
  if (ms === undefined) return "is not a time";
  if (ms > nowMs + AHEAD_MS) return "is a time in the future";
  return nowMs - ms < newerThanMs ? undefined : "is too long ago";
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

/** In milliseconds since 1970; undefined for what is no time of RFC 3339. */
function timeOf(value: Scalar): number | undefined {
  const ms = typeof value === "string" && TIME.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
