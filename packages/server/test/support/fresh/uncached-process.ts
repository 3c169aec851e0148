import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { MintRequest } from "../../../../platform/src/auth/index.ts";
import { type Connection, openConnection, type Question, type Reply } from "./connections.ts";
import { inheritedEnv } from "../environment.ts";

/** What the parent asks of the process: to mint a token, or else to forget everything. */
export interface ToChild {
  id: number;
  mint?: MintRequest;
}
/** What it answers, at first with its port alone. */
export interface FromChild {
  port?: number;
  id?: number;
  text?: string;
  error?: string;
}

/**
 * The server that keeps nothing (uncached-server.ts). `restart` goes on with a process that was started for it: then
 * not even what a module keeps for its whole process is older.
 */
export interface UncachedServer {
  ask(question: Question): Promise<Reply>;
  mint(request: MintRequest): Promise<string>;
  renew(): Promise<void>;
  restart(): Promise<void>;
  close(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL("./uncached-child.ts", import.meta.url));

interface Running {
  child: ChildProcess;
  connection: Connection;
  request(asked: Omit<ToChild, "id">): Promise<string>;
}

export async function startUncached(env: Record<string, string>): Promise<UncachedServer> {
  let current = await run(env);
  // Started ahead: until it is asked, it knows nothing.
  let next = run(env);
  next.catch(() => {});
  return {
    ask: (question) => current.connection.ask(question),
    mint: (mint) => current.request({ mint }),
    renew: async () => void (await current.request({})),
    async restart() {
      const last = current;
      current = await next;
      next = run(env);
      next.catch(() => {});
      await end(last);
    },
    async close() {
      await Promise.all([end(current), next.then(end, () => {})]);
    },
  };
}

async function run(env: Record<string, string>): Promise<Running> {
  const child = fork(PROGRAM, { env: { ...inheritedEnv(), ...env }, execArgv: [], serialization: "advanced" });
  const waiting = new Map<number, { resolve(text: string): void; reject(error: Error): void }>();
  const { promise: port, resolve: listening, reject: failed } = Promise.withResolvers<number>();
  child.on("message", ({ port: own, id, text = "", error }: FromChild) => {
    if (own !== undefined) listening(own);
    const asked = waiting.get(id ?? -1);
    waiting.delete(id ?? -1);
    if (error === undefined) asked?.resolve(text);
    else asked?.reject(new Error(error));
  });
  child.on("exit", (code) => {
    const error = new Error(`the uncached server ended with ${code}`);
    failed(error);
    for (const { reject } of waiting.values()) reject(error);
  });
  let last = 0;
  return {
    child,
    connection: openConnection("the uncached server", await port),
    request(asked) {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      last += 1;
      waiting.set(last, { resolve, reject });
      child.send({ id: last, ...asked });
      return promise;
    },
  };
}

async function end({ child, connection }: Running): Promise<void> {
  await connection.close();
  child.kill("SIGKILL");
}
