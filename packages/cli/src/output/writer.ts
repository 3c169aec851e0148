// Standard output of commands that print data.
import { once } from "node:events";

const MOST_HELD = 16_384;

/** Where data is printed. */
export interface Writer {
  readonly isTTY: boolean;
  /** The terminal's width in characters; Infinity elsewhere. */
  readonly columns: number;
  /** Prints text, a few kilobytes in one step, and waits while whoever reads it is slower. */
  write(text: string): Promise<void>;
  /** Prints what is held back. */
  flush(): Promise<void>;
}

/** Prints to standard output. Text is held back until there is enough of it, or nothing else to do. */
export function createWriter(stream: NodeJS.WriteStream = process.stdout): Writer {
  let held = "";
  let waiting = false;
  const flush = async (): Promise<void> => {
    const text = held;
    held = "";
    if (text !== "" && !stream.write(text)) await once(stream, "drain");
  };
  return {
    isTTY: stream.isTTY,
    get columns() {
      return stream.isTTY ? stream.columns || 80 : Infinity;
    },
    async write(text) {
      held += text;
      if (held.length >= MOST_HELD) return flush();
      if (waiting) return;
      waiting = true;
      setImmediate(() => {
        waiting = false;
        void flush();
      });
    },
    flush,
  };
}
