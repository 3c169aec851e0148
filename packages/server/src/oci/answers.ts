import type { Pull } from "./records/batch.ts";

export type Headers = Record<string, string | string[]>;

/**
 * A complete answer with status 200, and the pull it answers. A string body has one character for each byte: see
 * `send`.
 */
export interface PullAnswer {
  pull: Pull;
  headers: Headers & { etag: string };
  body: Uint8Array | string;
}
