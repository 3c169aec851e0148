// Watching on a terminal: what there is, drawn anew.
import { isColored, paint } from "../output/color.ts";
import { createLive } from "./live.ts";
import { repeat } from "./repeat.ts";
import { intervalOf } from "./watch-options.ts";

/** What is drawn: `ask` gets it, `lines` draws it in so many columns and rows. */
export interface Screen {
  ask(): Promise<void>;
  lines(columns: number, rows: number): readonly string[];
}

/** Draws what `ask` gets at each interval, and right after the terminal's size changed. */
export async function watchScreen(flags: { interval?: string }, signal: AbortSignal, screen: Screen): Promise<never> {
  const intervalMs = intervalOf(flags);
  const colored = isColored(process.stdout);
  let problem = "";
  const live = createLive(process.stdout, (columns, rows) => {
    const words = problem === "" ? `asks every ${intervalMs / 1000}s, Ctrl-C ends` : problem;
    const foot = colored ? paint(words, problem === "" ? "dim" : "red") : words;
    return [...screen.lines(columns, Math.max(1, rows - 3)), "", foot];
  });
  try {
    return await repeat(
      async () => {
        await screen.ask();
        problem = "";
        live.update();
      },
      {
        intervalMs,
        signal,
        failed(text) {
          problem = text;
          live.update();
        },
      },
    );
  } finally {
    live.end();
  }
}
