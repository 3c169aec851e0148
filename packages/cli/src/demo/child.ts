import { spawn } from "node:child_process";
import { once } from "node:events";
import { basename } from "node:path";
import { createInterface } from "node:readline";

/** Stops a program. Throws an Error when its exit code is not 0. */
export type Stop = () => Promise<void>;

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 15_000;
const KEPT_OUTPUT_CHARS = 4_000;

/** The environment of this process without the settings of Moorage, which are for another server than the demo's. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("MOORAGE_")));
}

/** The script to run with this Node, and variables to add to this process's environment. */
export type ChildOptions = {
  readonly script: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

/**
 * Runs a script and returns the URL in the first line of its output that contains the word `listening`. The function
 * that stops it (SIGTERM, after 15 s SIGKILL) is pushed onto `stops` immediately, so that it can be stopped whatever
 * happens. Throws an Error with the last output when it ends, or 30 s pass, before it listens.
 */
export async function startChild({ script, args, env = {} }: ChildOptions, stops: Stop[]): Promise<string> {
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...plainEnvironment(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit").then(([code, signal]) => (code ?? signal) as number | string);
  stops.push(async () => {
    const killer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
    child.kill("SIGTERM");
    const end = await exited;
    clearTimeout(killer);
    if (end !== 0 && end !== "SIGTERM") throw new Error(`${basename(script)} ended with ${end}`);
  });
  let output = "";
  const keep = (text: string): void => {
    output = (output + text).slice(-KEPT_OUTPUT_CHARS);
  };
  child.stderr.setEncoding("utf8").on("data", keep);
  const { promise: listening, resolve, reject } = Promise.withResolvers<string>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    keep(`${line}\n`);
    const [url] = (line.includes("listening") && /https?:\/\/[^\s"]+/.exec(line)) || [];
    if (url !== undefined) resolve(url);
  });
  const timer = setTimeout(() => reject(new Error(`${script} did not listen in time\n${output}`)), START_TIMEOUT_MS);
  void exited.then((code) => reject(new Error(`${script} ended with ${code} before it listened\n${output}`)));
  return listening.finally(() => clearTimeout(timer));
}
