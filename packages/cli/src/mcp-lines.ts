import type { Readable } from "node:stream";

/** As much as the server takes. */
const MAX_LINE_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

/** The lines of the input until it ends or the signal is aborted; undefined for one that is too long. */
export async function* linesOf(input: Readable, signal: AbortSignal): AsyncGenerator<string | undefined> {
  const stop = (): void => void input.destroy();
  if (signal.aborted) return;
  signal.addEventListener("abort", stop, { once: true });
  let parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of input) {
      let rest = Buffer.from(chunk as Uint8Array);
      for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
        size += end;
        yield size > MAX_LINE_BYTES ? undefined : Buffer.concat([...parts, rest.subarray(0, end)]).toString("utf8");
        [parts, size, rest] = [[], 0, rest.subarray(end + 1)];
      }
      size += rest.length;
      // What is too long is dropped as it comes.
      parts = size > MAX_LINE_BYTES ? [] : [...parts, rest];
    }
    if (size > 0 && size <= MAX_LINE_BYTES) yield Buffer.concat(parts).toString("utf8");
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
