import type { Check } from "@moorage/server";

export type { Check } from "@moorage/server";

const PATIENCE_MS = 15_000;

/** A check that found what should be there. */
export function ok(name: string, message: string): Check {
  return { name, state: "ok", message };
}

export function warning(name: string, message: string, fix: string): Check {
  return { name, state: "warning", message, fix };
}

export function failed(name: string, message: string, fix?: string): Check {
  return { name, state: "failed", message, ...(fix !== undefined && { fix }) };
}

/** Nothing is known, and the message says why. */
export function notChecked(name: string, message: string, fix?: string): Check {
  return { name, state: "not_checked", message, ...(fix !== undefined && { fix }) };
}

/** What the work finds, in a quarter of a minute at most. What it throws is a failure of that name. */
export async function examined(name: string, work: () => Promise<Check[]>): Promise<Check[]> {
  const { promise: late, resolve } = Promise.withResolvers<Check[]>();
  const timer = setTimeout(() => resolve([failed(name, `no answer in ${PATIENCE_MS / 1000} seconds`)]), PATIENCE_MS);
  try {
    return await Promise.race([work(), late]);
  } catch (error) {
    return [failed(name, error instanceof Error ? error.message : String(error))];
  } finally {
    clearTimeout(timer);
  }
}
