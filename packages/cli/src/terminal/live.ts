// Lines at the end of a terminal that are drawn over and over.
import { widthOf } from "../output/width.ts";

const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";
const NO_WRAP = "\u001b[?7l";
const WRAP = "\u001b[?7h";
const CLEAR_BELOW = "\u001b[J";
// eslint-disable-next-line no-control-regex -- colors begin so
const COLORS = /\u001b\[[0-9;]*m/g;

/** A terminal. */
export interface LiveStream {
  isTTY?: boolean;
  columns?: number;
  rows?: number;
  write(text: string): unknown;
  on?(event: "resize", listener: () => void): unknown;
  off?(event: "resize", listener: () => void): unknown;
}

/** Lines that are drawn again when they change, and right after the terminal's size did. */
export interface Live {
  /** Draws the lines anew. */
  update(): void;
  /** Takes them away, so that other text can be written. */
  clear(): void;
  /** Leaves them where they are; the cursor is below. What is drawn later begins there. */
  leave(): void;
  /** Leaves them and stops following the terminal's size. */
  end(): void;
}

/** Whether lines can be drawn over on this stream: on a terminal that moves its cursor. */
export function isRedrawable(stream: LiveStream): boolean {
  return stream.isTTY === true && process.env["TERM"] !== "dumb";
}

/** Draws the lines that `render` makes for the terminal's width; no more than it has rows. */
export function createLive(stream: LiveStream, render: (columns: number, rows: number) => readonly string[]): Live {
  let widths: number[] = [];
  let listens = false;
  const showCursor = (): unknown => stream.write(SHOW_CURSOR + WRAP);
  /** Moves to the first of the drawn lines. Terminals that became narrower have wrapped them. */
  const back = (): string => {
    const columns = stream.columns || 80;
    const rows = widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    widths = [];
    return rows === 0 ? "" : `\r${rows > 1 ? `\u001b[${rows - 1}A` : ""}${CLEAR_BELOW}`;
  };
  const update = (): void => {
    if (!listens) {
      stream.on?.("resize", update);
      process.on("exit", showCursor);
      listens = true;
    }
    const [columns, rows] = [stream.columns || 80, stream.rows || 24];
    const start = back();
    const lines = render(columns, rows).slice(0, Math.max(1, rows - 1));
    widths = lines.map((line) => Math.min(columns, widthOf(line.replace(COLORS, ""))));
    stream.write(`${HIDE_CURSOR}${NO_WRAP}${start}${lines.join("\n")}${WRAP}`);
  };
  const leave = (): void => {
    if (widths.length > 0) stream.write(`\n${SHOW_CURSOR}`);
    widths = [];
  };
  return {
    update,
    clear: () => void stream.write(back()),
    leave,
    end() {
      leave();
      if (!listens) return;
      stream.off?.("resize", update);
      process.off("exit", showCursor);
      listens = false;
    },
  };
}
