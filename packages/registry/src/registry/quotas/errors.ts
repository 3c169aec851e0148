import { failedPrecondition, MoorageError } from "@moorage/kernel/errors";
import type { Database } from "@moorage/kernel/store";
import { groupPath } from "./group-path.ts";
import type { Limited } from "./levels.ts";

/** The type of the violation that says that something does not fit into a quota. Its subject is the group's uid. */
const QUOTA_EXCEEDED = "QUOTA_EXCEEDED";

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** Numbers in the unit of the first one: `10 GiB`, `9.8`, `0.5`. What is needed is rounded up, so that it is not 0. */
export function sizesInWords(limit: number, used: number, needed: number): [string, string, string] {
  let [unit, factor] = [0, 1];
  while (limit >= factor * 1024 && unit < UNITS.length - 1) [unit, factor] = [unit + 1, factor * 1024];
  const inUnit = (bytes: number, round: (x: number) => number): string => String(round((bytes / factor) * 10) / 10);
  return [`${inUnit(limit, Math.round)} ${UNITS[unit]}`, inUnit(used, Math.floor), inUnit(needed, Math.ceil)];
}

/** What does not fit, and into what. */
export interface Excess {
  quota: string;
  what: Limited;
  limit: number;
  used: number;
  needed: number;
}

/** FAILED_PRECONDITION (QUOTA_EXCEEDED), which says how much there is, is used and is needed. */
export async function quotaExceeded(db: Database, { quota, what, limit, used, needed }: Excess): Promise<MoorageError> {
  const path = await groupPath(db, quota);
  const [has, uses, needs] =
    what === "bytes" ? sizesInWords(limit, used, needed) : [`${limit} ${what}`, String(used), String(needed)];
  const description = `quota of ${path}: ${has}, used ${uses}, needs ${needs} more`;
  return failedPrecondition({ type: QUOTA_EXCEEDED, subject: quota, description });
}

/** FAILED_PRECONDITION (QUOTA_EXCEEDED): so much is not kept of another registry. */
export async function cacheFull(
  db: Database,
  { quota, limit, used, needed }: Omit<Excess, "what">,
): Promise<MoorageError> {
  const path = await groupPath(db, quota);
  const [has, uses, needs] = sizesInWords(limit, used, needed);
  const description = `${path} keeps ${has} of another registry, has ${uses}, needs ${needs} more`;
  return failedPrecondition({ type: QUOTA_EXCEEDED, subject: quota, description });
}

/** The group whose quota an error is about; undefined for other errors. */
export function quotaOfError(error: unknown): string | undefined {
  if (!(error instanceof MoorageError)) return undefined;
  return error.details.preconditionViolations?.find(({ type }) => type === QUOTA_EXCEEDED)?.subject;
}

/** The words of such an error alone, which clients of registries show. */
export function quotaWords(error: MoorageError): string {
  return (
    error.details.preconditionViolations?.find(({ type }) => type === QUOTA_EXCEEDED)?.description ?? error.message
  );
}
