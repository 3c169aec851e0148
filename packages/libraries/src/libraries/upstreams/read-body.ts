import { FetchError } from "@moorage/kernel/lib/guarded-fetch";
import { holding } from "../reading/holding.ts";
import type { Reading } from "../reading/open.ts";
import type { UpstreamAnswer } from "./client.ts";

/** A body in memory. `release` is called when it is needed no longer. */
export interface HeldBody {
  pieces: Buffer[];
  size: number;
  release(): void;
}

/**
 * Reads the body of an answer, on behalf of a group. A large one waits for others that are in memory. Throws a
 * FetchError when it has more than `maxBytes` or breaks off, and UNAVAILABLE.
 */
export async function readBody(
  { body, headers }: Pick<UpstreamAnswer, "body" | "headers">,
  maxBytes: number,
  reading: Pick<Reading, "take">,
  owner: string,
): Promise<HeldBody> {
  const announced = Number(headers["content-length"] ?? 0) || 0;
  const { hold, release } = holding(reading, owner, Math.min(announced, maxBytes));
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > maxBytes) throw new FetchError("refused", "the answer is too large");
      await hold(size);
      chunks.push(chunk);
    }
    return { pieces: chunks, size, release };
  } catch (error) {
    release();
    throw error;
  }
}
