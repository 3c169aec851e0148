// Runs the command on a pseudo-terminal, with a terminal that draws what it prints: tests see the screen as people do.
import type { TestContext } from "node:test";
import type { Terminal as Emulator } from "@xterm/headless";
import type { IPty } from "@lydell/node-pty";
import { eventually } from "../../server/test/support/eventually.ts";
import { environment } from "./commands.ts";

/** A program on a terminal. */
export interface Terminal {
  /** The lines of the screen as they are now, without blanks at their ends and without empty lines below. */
  screen(): string[];
  /** All that was printed, with what controls the terminal. */
  printed(): string;
  /** Types. `\u0003` is Ctrl-C. */
  type(text: string): void;
  resize(columns: number, rows: number): void;
  /** Waits until the screen shows it. When it never does, it throws with the screen. */
  shows(pattern: RegExp): Promise<void>;
  /** Waits for the program's end: its exit code, or 128 and the number of the signal that ended it. */
  exit(): Promise<number>;
}

/** Why there are no pseudo-terminals here; undefined where there are. For `skip` of tests. */
export const noTerminal: string | undefined = await import("@lydell/node-pty").then(
  () => undefined,
  (error: unknown) =>
    `no pseudo-terminal on ${process.platform}-${process.arch} (${String(error)}); ` +
    "install node-pty for it, and run: npm test -- cli/test/terminal",
);

/** Starts Node, or another program, on a terminal of its own; it is ended with the test. */
export async function onTerminal(
  t: TestContext,
  args: readonly string[],
  options: { program?: string; cwd?: string; env?: Record<string, string>; columns?: number; rows?: number } = {},
): Promise<Terminal> {
  const { spawn } = await import("@lydell/node-pty");
  const { default: xterm } = await import("@xterm/headless");
  const { program = process.execPath, columns = 80, rows = 24, cwd = process.cwd(), env = {} } = options;
  const emulator: Emulator = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, convertEol: false });
  const pty: IPty = spawn(program, [...args], {
    name: env["TERM"] ?? "xterm-256color",
    cols: columns,
    rows,
    cwd,
    env: withoutColors(env),
  });
  let printed = "";
  const { promise: ended, resolve } = Promise.withResolvers<number>();
  pty.onData((data) => {
    printed += data;
    emulator.write(data);
  });
  pty.onExit(({ exitCode, signal }) => resolve(signal ? 128 + signal : exitCode));
  let running = true;
  void ended.then(() => (running = false));
  t.after(async () => {
    if (running) pty.kill("SIGKILL");
    await ended;
    emulator.dispose();
  });
  const drawn = (): Promise<void> => new Promise((done) => emulator.write("", done));
  const screen = (): string[] => {
    const { active } = emulator.buffer;
    const lines = Array.from({ length: emulator.rows }, (_, at) =>
      (active.getLine(active.baseY + at)?.translateToString(true) ?? "").trimEnd(),
    );
    return lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
  };
  return {
    screen,
    printed: () => printed,
    type: (text) => pty.write(text),
    resize(toColumns, toRows) {
      emulator.resize(toColumns, toRows);
      pty.resize(toColumns, toRows);
    },
    async shows(pattern) {
      await eventually(
        async () => {
          await drawn();
          return pattern.test(screen().join("\n"));
        },
        { instead: () => ({ pattern, screen: screen() }) },
      );
    },
    async exit() {
      const code = await ended;
      await drawn();
      return code;
    },
  };
}

/** The environment of a person at a terminal. */
function withoutColors(extra: Record<string, string>): Record<string, string> {
  const { NO_COLOR: _, FORCE_COLOR: __, CI: ___, ...own } = environment({});
  const entries = Object.entries(own).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { ...Object.fromEntries(entries), TERM: "xterm-256color", ...extra };
}
