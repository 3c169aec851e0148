// The process that generates all load: it reads a LoaderRequest as one line of JSON and writes one line of JSON. It
// lives as long as the benchmark, so that no row includes its compilation.
import { type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Transfer, transfer, type TransferResult } from "./blob.ts";
import { type InstallLoad, runInstall } from "./library-install.ts";
import { type GrpcLoad, runGrpc } from "./grpc-load.ts";
import { type Load, type LoadResult, runHttp } from "./load.ts";
import { LOAD_CORE, start } from "./processes.ts";
import { type OperationsLoad, runOperations } from "./traffic.ts";
import { type PushLoad, runPush } from "./push.ts";

/** Readers and pushes during the same time. */
interface MixedLoad {
  readers: Load;
  push: PushLoad;
}
interface MixedResult {
  readers: LoadResult;
  push: LoadResult;
}

type LoaderRequest =
  | { kind: "http"; load: Load }
  | { kind: "grpc"; load: GrpcLoad }
  | { kind: "blob"; load: Transfer }
  | { kind: "push"; load: PushLoad }
  | { kind: "install"; load: InstallLoad }
  | { kind: "mixed"; load: MixedLoad }
  | { kind: "operations"; load: OperationsLoad };
type LoaderResult = LoadResult | TransferResult | MixedResult;
type LoaderAnswer = { result: LoaderResult } | { failure: string };

export interface Loader {
  http(load: Load): Promise<LoadResult>;
  grpc(load: GrpcLoad): Promise<LoadResult>;
  blob(load: Transfer): Promise<TransferResult>;
  push(load: PushLoad): Promise<LoadResult>;
  install(load: InstallLoad): Promise<LoadResult>;
  mixed(load: MixedLoad): Promise<MixedResult>;
  operations(load: OperationsLoad): Promise<LoadResult>;
}

const TIMEOUT_MS = 60_000;

/**
 * Starts the process at its first use, and again after it was stopped because it took too long; stopAll ends it. One
 * request at a time.
 */
export function openLoader(core: number = LOAD_CORE): Loader {
  let child: ChildProcess | undefined;
  let answers: AsyncIterator<string> | undefined;
  const launch = (): { child: ChildProcess; answers: AsyncIterator<string> } => {
    const started = start(core, process.execPath, [fileURLToPath(import.meta.url)], { output: "pipe" });
    if (!started.stdout) throw new Error("the load has no output");
    child = started;
    answers = createInterface({ input: started.stdout })[Symbol.asyncIterator]();
    return { child: started, answers };
  };
  const ask = async <T extends LoaderResult>(request: LoaderRequest): Promise<T> => {
    const running =
      child !== undefined && child.exitCode === null && child.signalCode === null && answers !== undefined
        ? { child, answers }
        : launch();
    const timer = setTimeout(() => running.child.kill("SIGKILL"), TIMEOUT_MS);
    running.child.stdin?.write(`${JSON.stringify(request)}\n`);
    const line = await running.answers.next();
    clearTimeout(timer);
    if (line.done) throw new Error("the load ended, or took longer than a minute");
    const said = JSON.parse(line.value) as LoaderAnswer;
    if ("failure" in said) throw new Error(said.failure);
    return said.result as T;
  };
  return {
    http: (load) => ask({ kind: "http", load }),
    grpc: (load) => ask({ kind: "grpc", load }),
    blob: (load) => ask({ kind: "blob", load }),
    push: (load) => ask({ kind: "push", load }),
    install: (load) => ask({ kind: "install", load }),
    mixed: (load) => ask({ kind: "mixed", load }),
    operations: (load) => ask({ kind: "operations", load }),
  };
}

async function perform(request: LoaderRequest): Promise<LoaderResult> {
  switch (request.kind) {
    case "http":
      return runHttp(request.load);
    case "grpc":
      return runGrpc(request.load);
    case "blob":
      return transfer(request.load);
    case "push":
      return runPush(request.load);
    case "install":
      return runInstall(request.load);
    case "operations":
      return runOperations(request.load);
    case "mixed": {
      const [readers, push] = await Promise.all([runHttp(request.load.readers), runPush(request.load.push)]);
      return { readers, push };
    }
  }
}

if (import.meta.main) {
  for await (const line of createInterface({ input: process.stdin })) {
    const said: LoaderAnswer = await perform(JSON.parse(line) as LoaderRequest).then(
      (result) => ({ result }),
      (error: unknown) => ({ failure: error instanceof Error ? error.message : String(error) }),
    );
    process.stdout.write(`${JSON.stringify(said)}\n`);
  }
}
