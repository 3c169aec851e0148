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
}

/** Returns undefined for 404. Throws for any other status. */
export function requireMissing(status: number): undefined {
  if (status !== 404) throw new UpstreamError("wrong", `the source answered ${status}`);
}
