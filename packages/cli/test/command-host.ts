// A process that runs one command after the other, each as if it were a process of its own: with its own arguments,
// environment, folder, output and exit code. Most of what a short command takes is loading the sources, which happens
// once here. Started by `hosts.ts`, which says what is not as in a process.
import { Console } from "node:console";
import { Writable } from "node:stream";
import { LAUNCHER } from "./launcher.ts";

/** A command to run. */
export interface Order {
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
}

/** What it printed, and its exit code. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const DISPATCHER = Symbol.for("undici.globalDispatcher.2");
/** Thrown by `process.exit`, so that nothing after it runs. */
const EXITED = new Error("the command has ended");
const home = process.cwd();
const leave = process.exit.bind(process);
let count = 0;
let exit: (code: number) => void = () => {};

process.exit = (code) => {
  exit(Number(code ?? process.exitCode ?? 0));
  throw EXITED;
};
process.on("uncaughtException", (error) => {
  if (error === EXITED) return;
  console.error(error);
  exit(1);
});
process.on("disconnect", () => leave(0));
process.on("message", (order: Order) => {
  void outcomeOf(order).then((outcome) => process.send?.(outcome));
});

async function outcomeOf({ args, cwd, env }: Order): Promise<Outcome> {
  const { promise: exited, resolve } = Promise.withResolvers<number>();
  exit = resolve;
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [process.execPath, LAUNCHER, ...args];
  process.exitCode = undefined;
  const [stdout, stderr] = [new Output(), new Output()];
  for (const [name, value] of Object.entries({ stdout, stderr }))
    Object.defineProperty(process, name, { value, configurable: true });
  globalThis.console = new Console({ stdout, stderr });
  try {
    // The module that a process begins with runs anew under another URL; what it imports is loaded once.
    const done = import(`../src/main.ts?${(count += 1)}`).then(() => Number(process.exitCode ?? 0));
    const code = await Promise.race([done, exited]);
    return { code, stdout: stdout.text, stderr: stderr.text };
  } catch (error) {
    if (error === EXITED) return { code: await exited, stdout: stdout.text, stderr: stderr.text };
    return { code: 1, stdout: stdout.text, stderr: `${stderr.text}${String(error)}\n` };
  } finally {
    process.chdir(home);
    closeConnections();
  }
}

/** A process takes its connections with it. `fetch` has its own in a dispatcher that is found by this symbol. */
function closeConnections(): void {
  const holder = globalThis as { [DISPATCHER]?: { destroy(): Promise<void>; constructor: unknown } };
  const used = holder[DISPATCHER];
  if (used === undefined) return;
  holder[DISPATCHER] = new (used.constructor as new () => typeof used)();
  void used.destroy();
}

/** Keeps what is written, as a pipe would. */
class Output extends Writable {
  readonly #chunks: Buffer[] = [];
  readonly isTTY = false;

  get text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }
}
