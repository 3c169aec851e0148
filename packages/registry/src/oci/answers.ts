import type { JudgedState } from "../trust/index.ts";
import type { Pull } from "./records/batch.ts";

export type Headers = Record<string, string | string[]>;

// The specification of the protocol allows 4,096 bytes of warnings in all.
const MAX_WARNING = 2_000;
const CUT = " (cut off: the image's coverage has all of it)";

/**
 * The header by which a registry says something to the people behind a client, as the OCI distribution specification
 * has it: clients show its text and do nothing else about it. None for an empty text.
 */
export function warningHeader(text: string): Headers {
  if (text === "") return {};
  const bounded = text.length <= MAX_WARNING ? text : `${text.slice(0, MAX_WARNING)}${CUT}`;
  const plain = bounded.replaceAll(/[^\x20-\x7e]/g, "?").replaceAll(/["\\]/g, "'");
  return { warning: `299 - "${plain}"` };
}

/**
 * A complete answer with status 200, and the pull it answers. A string body has one character for each byte: see
 * `send`.
 */
export interface PullAnswer {
  /** What the image was judged by, under policies of signatures: looked at again before a cached answer is sent. */
  judged?: JudgedState | undefined;
  pull: Pull;
  headers: Headers & { etag: string };
  body: Uint8Array | string;
}
