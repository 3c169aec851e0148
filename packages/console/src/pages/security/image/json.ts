/** An object of JSON that others wrote: any field may be missing, or be something else than one expects. */
export type Json = Readonly<Record<string, unknown>>;

/** The object that a text is; empty for everything else. */
export function jsonOf(text: string): Json {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return {};
  }
}

/** The value where it is an object; otherwise an empty one. */
export function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/** The objects of a list. */
export function objectsOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

/** The value as a text: empty when there is none. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The values of a list as texts. */
export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(textOf) : [];
}

/** The names of an object with their values as texts. */
export function pairsOf(value: unknown): readonly (readonly [name: string, value: string])[] {
  return Object.entries(objectOf(value)).map(([name, each]) => [name, textOf(each)] as const);
}

/** The number; 0 where there is none. */
export function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
