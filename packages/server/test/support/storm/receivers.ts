import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { Got, Said, Instruction, Trust } from "./records.ts";

/** The receivers of a storm. */
export interface Receivers {
  url: string;
  /** Makes them verify requests from now on, by the issuer's keys and the secret of each path. */
  trust(issuer: string, keys: { keys: object[] }, by: Record<string, Trust>): void;
  /** The records of all requests that have ended. */
  got(): Promise<Got[]>;
}

const PROGRAM = fileURLToPath(new URL("./sinks.ts", import.meta.url));
const ANSWER_TIMEOUT_MS = 60_000;

/** Starts the receivers in a child process, which ends with the test. */
export async function startReceivers(t: TestContext, seed: number): Promise<Receivers> {
  const folder = mkdtempSync(join(tmpdir(), "moorage-storm-"));
  const notes = join(folder, "notes");
  const child = fork(PROGRAM, [notes, String(seed)]);
  const ended = once(child, "exit");
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const said = async (): Promise<Said> =>
    ((await once(child, "message", { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) })) as [Said])[0];
  const send = (instruction: Instruction): void => void child.send(instruction);
  const first = await said();
  if (first.say !== "listening") throw new Error("the receivers do not listen");
  return {
    url: `http://127.0.0.1:${first.port}`,
    trust: (issuer, keys, by) => send({ kind: "trust", issuer, keys, by }),
    async got() {
      const flushed = said();
      send({ kind: "flush" });
      await flushed;
      return readFileSync(notes, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Got);
    },
  };
}
