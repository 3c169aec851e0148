import { isObject } from "@moorage/kernel/lib/json";
import { type Build, buildOf } from "./provenance.ts";

/** A value of JSON that holds no others. */
export type Scalar = string | number | boolean | null;

/**
 * What rules of policies may ask of what was signed, beside its kind: stored with the signature, so that judging it
 * reads nothing else. All of it was signed.
 */
export interface Claims {
  /** What the image is called in it: `docker-reference` of cosign, the name of the subject of a statement. */
  names: readonly string[];
  annotations: Readonly<Record<string, string>>;
  /** What a provenance of SLSA says. */
  build?: Build;
  /** The values of the predicate by their JSON pointers, those closest to its root first. */
  values: readonly (readonly [pointer: string, value: Scalar])[];
  /** How much more it says that is not kept here, since that is too much: names, annotations and values. */
  leftOut: number;
}

/** The most characters of the claims of one signature, as JSON, and of those of one manifest. */
const MAX_CHARACTERS = 16 << 10;
export const MAX_OF_MANIFEST = 64 << 10;
/** Longer names and values are not kept. */
const MAX_TEXT = 2 << 10;
/** The most names, annotations, and objects and lists of a predicate whose values are looked at. */
const MAX_NAMES = 20;
const MAX_ANNOTATIONS = 100;
const MAX_LOOKED_INTO = 2_000;
/** What a value takes beside its characters. */
const OVERHEAD = 8;

/** What is kept of what was signed: `names` and `annotations` as they were found, and `predicate`. */
export function claimsOf(found: {
  names: readonly unknown[];
  annotations: unknown;
  predicateType?: string;
  predicate?: unknown;
}): Claims {
  const names = [...new Set(found.names.filter(isShort))].filter((name) => name !== "");
  const all = isObject(found.annotations) ? Object.entries(found.annotations) : [];
  const texts = all.filter((each): each is [string, string] => isShort(each[0]) && isShort(each[1]));
  const kept = within(texts, MAX_CHARACTERS / 4).slice(0, MAX_ANNOTATIONS);
  const build = buildOf(found.predicateType ?? "", found.predicate);
  const predicate = valuesOf(found.predicate);
  const tooLong = found.names.filter((name) => typeof name === "string" && !isShort(name)).length;
  return {
    names: names.slice(0, MAX_NAMES),
    annotations: Object.fromEntries(kept),
    ...(build !== undefined && { build }),
    values: predicate.values,
    leftOut: predicate.leftOut + tooLong + Math.max(0, names.length - MAX_NAMES) + all.length - kept.length,
  };
}

/** Claims of which nothing is kept, since those of other signatures of the manifest take all there may be. */
export function withoutClaims({ names, annotations, values, leftOut }: Claims): Claims {
  const left = leftOut + names.length + Object.keys(annotations).length + values.length;
  return { names: [], annotations: {}, values: [], leftOut: Math.max(1, left) };
}

function isShort(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_TEXT;
}

/** The first of these that together are not too long. */
function within<T extends Scalar>(entries: readonly (readonly [string, T])[], most: number): [string, T][] {
  let left = most;
  return entries.flatMap(([name, value]): [string, T][] => {
    left -= name.length + String(value).length + OVERHEAD;
    return left < 0 ? [] : [[name, value]];
  });
}

/** The values of a predicate, those closest to its root first, as many as may be kept; and how many more there are. */
function valuesOf(predicate: unknown): Pick<Claims, "values" | "leftOut"> {
  const found: [string, Scalar][] = [];
  const queue: [string, object][] = isObject(predicate) ? [["", predicate]] : [];
  for (let at = 0; at < Math.min(queue.length, MAX_LOOKED_INTO); at += 1) {
    const [pointer, value] = queue[at] ?? ["", {}];
    for (const [name, each] of Object.entries(value) as [string, unknown][]) {
      const path = `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      if (path.length > MAX_TEXT) continue;
      if (typeof each !== "object" || each === null) found.push([path, each as Scalar]);
      else if (queue.length < MAX_LOOKED_INTO) queue.push([path, each]);
    }
  }
  const values = within(
    found.filter(([, value]) => typeof value !== "string" || isShort(value)),
    MAX_CHARACTERS / 2,
  );
  return { values, leftOut: countIn(predicate) - values.length };
}

/** How many values there are in a predicate, whose depth was bounded when it was read. */
function countIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return value === undefined ? 0 : 1;
  return Object.values(value).reduce<number>((sum, each) => sum + countIn(each), 0);
}
