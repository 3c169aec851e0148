import { createHash } from "node:crypto";

/** How often a mirror is fetched where nothing else is said, in milliseconds. */
const DEFAULT_INTERVAL_MS = 86_400_000;

/** A mirror of TUF, and the metadata of the role root that is trusted from the beginning. */
export interface TufSource {
  url: string;
  root: string;
  intervalMs: number;
  /** A hash of the URL and the root: what was fetched from one source says nothing of another. */
  source: string;
}

export function tufSource({
  url,
  root,
  intervalMs = DEFAULT_INTERVAL_MS,
}: Pick<TufSource, "url" | "root"> & { intervalMs?: number }): TufSource {
  const source = createHash("sha256")
    .update(JSON.stringify([url, root]))
    .digest("hex");
  return { url, root, intervalMs, source };
}
