// Bars for long work.
import type { Progress, Report } from "@moorage/server";
import { EXIT } from "../command/exit-codes.ts";
import { bytesText } from "../output/sizes.ts";
import { createLive, isRedrawable, type LiveStream } from "./live.ts";

const REDRAW_MS = 100;
const BAR_WIDTH = 30;
const LEAST_BAR_WIDTH = 10;

/**
 * Shows the progress of work on standard error: on a terminal, a bar for each step that overwrites itself; elsewhere
 * nothing but notes. `done` ends the last bar.
 */
function createProgress(stream: LiveStream, nowMs: () => number = Date.now): Report & { done(): void } {
  let shown: Progress | undefined;
  let shownMs = 0;
  const live = createLive(stream, (columns) => (shown === undefined ? [] : [barOf(shown, columns)]));
  return {
    done: live.end,
    progress(progress) {
      if (!isRedrawable(stream)) return;
      const ends = progress.done >= progress.total;
      if (progress.step === shown?.step && !ends && nowMs() - shownMs < REDRAW_MS) return;
      if (shown !== undefined && progress.step !== shown.step) live.leave();
      [shown, shownMs] = [progress, nowMs()];
      live.update();
    },
    note(text) {
      live.leave();
      stream.write(`${text}\n`);
    },
  };
}

/** One line, narrower than the terminal, whose bar gives way to the words. */
function barOf(progress: Progress, columns: number): string {
  const text = textOf(progress);
  const width = Math.min(BAR_WIDTH, columns - text.length - "[] ".length - 1);
  if (width < LEAST_BAR_WIDTH) return text.slice(0, Math.max(1, columns - 1));
  const share = progress.total === 0 ? 1 : Math.min(1, progress.done / progress.total);
  const filled = Math.round(share * width);
  return `[${"#".repeat(filled)}${".".repeat(width - filled)}] ${text}`;
}

function textOf({ step, done, total, unit }: Progress): string {
  const text = (n: number): string => (unit === "bytes" ? bytesText(n) : `${n} ${unit}`);
  return `${step}: ${text(done)} of ${text(total)} (${total === 0 ? 100 : Math.floor((done / total) * 100)}%)`;
}

/**
 * Does work that reports its progress. When it is interrupted, the command ends with 130, or with 143 for SIGTERM,
 * after printing `interrupted`: one line that says what state that leaves.
 */
export async function withProgress<T>(interrupted: string, work: (report: Report) => Promise<T>): Promise<T> {
  const progress = createProgress(process.stderr);
  const stop = (signal: NodeJS.Signals): void => {
    progress.note(`moorage: stopped: ${interrupted}`);
    process.exit(signal === "SIGINT" ? EXIT.interrupted : EXIT.terminated);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
  try {
    return await work(progress);
  } finally {
    progress.done();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
  }
}
