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

/** What is looked at, such as the address of a server, and what to do when that ends without an answer. */
interface Subject {
  what?: string;
  fix?: string;
  /** The longest to wait, in milliseconds. */
  patienceMs?: number;
}

/**
 * What the work finds, in a quarter of a minute at most. What it throws is a failure of that name, and so is that it
 * has not ended by then; both say what was looked at and what to do.
 */
export async function examined(
  name: string,
  work: () => Promise<Check[]>,
  { what, fix, patienceMs = PATIENCE_MS }: Subject = {},
): Promise<Check[]> {
  const { promise: late, resolve } = Promise.withResolvers<Check[]>();
  const wrong = (message: string): Check[] => {
    const isSaid = what === undefined || message.includes(what);
    return [failed(name, isSaid ? message : `${what}: ${message}`, fix)];
  };
  const timer = setTimeout(() => resolve(wrong(`no answer in ${patienceMs / 1000} seconds`)), patienceMs);
  try {
    return await Promise.race([work(), late]);
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(timer);
  }
}
