import { UpstreamError } from "./errors.ts";
import type { Exchange } from "./request.ts";

/** A repository at its registry, and the connection to ask it. */
export interface SourceRepository {
  exchange: Exchange;
  /** Scheme, host and port. */
  origin: string;
  /** The path of the repository's endpoints, `/v2/<name>`. */
  base: string;
  maxManifestBytes: number;
  /** For a whole list, and all its pages. */
  listTimeoutMs: number;
  /** Whether it has refused HEAD so far, where GET had an answer; set by who asks. */
  refusesHead: boolean;
}

/** Whether a HEAD with this error may still have an answer by GET. */
export function mayHaveGet(error: unknown): boolean {
  return error instanceof UpstreamError && HEAD_REFUSED.has(error.status ?? 0);
}

// Registries and what stands before them answer HEAD with these although they have an answer for GET.
const HEAD_REFUSED: ReadonlySet<number> = new Set([400, 401, 403, 405, 406, 501]);

/** Returns undefined for 404. Throws for any other status. */
export function requireMissing(status: number): undefined {
  if (status !== 404) throw new UpstreamError("wrong", `the source answered ${status}`, { status });
}
