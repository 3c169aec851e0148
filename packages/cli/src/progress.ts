import type { Progress, Report } from "@moorage/server";

const REDRAW_MS = 100;
const LINE_EVERY_MS = 5_000;
const BAR_WIDTH = 30;
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** A number of bytes as readable text, such as `1.5 GiB`. */
export function bytesText(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${power === 0 ? bytes : (bytes / 1024 ** power).toFixed(1)} ${UNITS[power] ?? "B"}`;
}

/** Where progress is written: standard error, so that programs can read a command's result from standard output. */
export interface ProgressStream {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

/** On a terminal, a bar that overwrites itself; elsewhere, a line every five seconds. `done` ends the bar's line. */
export function createProgress(stream: ProgressStream, nowMs: () => number = Date.now): Report & { done(): void } {
  const terminal = stream.isTTY === true;
  let shownMs = terminal ? 0 : nowMs();
  let step = "";
  let drawn = false;
  const done = (): void => {
    if (drawn) stream.write("\n");
    drawn = false;
  };
  return {
    done,
    progress(progress) {
      const ends = progress.done >= progress.total;
      if (progress.step !== step && drawn) done();
      if (
        progress.step === step || !terminal
          ? nowMs() - shownMs < (terminal ? REDRAW_MS : LINE_EVERY_MS) && !(terminal && ends)
          : false
      )
        return;
      [shownMs, step] = [nowMs(), progress.step];
      if (!terminal) {
        stream.write(`${textOf(progress)}\n`);
        return;
      }
      const share = progress.total === 0 ? 1 : Math.min(1, progress.done / progress.total);
      const filled = Math.round(share * BAR_WIDTH);
      const line = `[${"#".repeat(filled)}${".".repeat(BAR_WIDTH - filled)}] ${textOf(progress)}`;
      stream.write(`\r${line.slice(0, (stream.columns ?? 80) - 1)}\u001b[K`);
      drawn = true;
    },
    note(text) {
      done();
      stream.write(`${text}\n`);
    },
  };
}

function textOf({ step, done, total, unit }: Progress): string {
  const text = (n: number): string => (unit === "bytes" ? bytesText(n) : `${n} ${unit}`);
  return `${step}: ${text(done)} of ${text(total)} (${total === 0 ? 100 : Math.floor((done / total) * 100)}%)`;
}

/**
 * Does work that reports its progress. When interrupted, the command ends with 1 after printing `interrupted`, one line
 * that says what state that leaves.
 */
export async function withProgress<T>(interrupted: string, work: (report: Report) => Promise<T>): Promise<T> {
  const progress = createProgress(process.stderr);
  const stop = (): void => {
    progress.note(`moorage: stopped: ${interrupted}`);
    process.exit(1);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
  try {
    return await work(progress);
  } finally {
    progress.done();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
  }
}
