import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { createSecrets } from "../lib/secrets.ts";
import type { CallData } from "../core/call.ts";
import { type CommandContext, commandContext, commandNamed, runCommand } from "./commands.ts";
import { Code, MoorageError, type PlainError, toPlain } from "../errors.ts";
import { methodsOf } from "./methods.ts";
import { commitTogether, type Database, isDamage, openWriter, type Work } from "../store/index.ts";
import { diskReserve } from "../lib/disk-reserve.ts";
import { runsWhileFull } from "./while-full.ts";
import type { ServiceContext } from "../core/service.ts";

/**
 * The data that the thread starts with: what services are made with, but for what cannot be sent to a thread, or is not
 * needed to write.
 */
export interface WriterThreadData extends Omit<ServiceContext, "secrets" | "readBlob" | "providers"> {
  path: string;
  admins: readonly string[];
  secretKeys: readonly Uint8Array[];
  /** The folder of the reserve, and its size in bytes. Defaults to none. */
  reserve?: { dataDir: string; bytes: number };
}
/** A command sent to the thread. */
export interface WriteRequest {
  id: number;
  name: string;
  data: CallData;
  input: unknown;
}
/** Its result. `fault` describes an unexpected error, for the log; `isDamage`: the database's file is damaged. */
export type WriteAnswer = { id: number } & ({ value: unknown } | { error: PlainError } | Fault);
interface Fault {
  fault: string;
  isDamage: boolean;
}

const MAX_TOGETHER = 256;
const RETRY_FULL_MS = 60_000;
// A server that runs only for a moment does not write the reserve.
const RESERVE_EVERY_MS = 10_000;

if (parentPort !== null) serve(parentPort, workerData as WriterThreadData);

function serve(port: MessagePort, { path, secretKeys, reserve, ...settings }: WriterThreadData): void {
  const { db, raw, fence } = openWriter(path, { waits: false });
  const secrets = createSecrets(secretKeys);
  // Methods that read blobs or call other providers are not writing methods, so they never run in this thread.
  const methods = methodsOf({ ...settings, secrets, readBlob: async () => undefined });
  const context = commandContext({ methods, admins: settings.admins, secrets, terms: settings.terms });
  const disk = diskReserve(reserve?.dataDir ?? "", reserve?.bytes ?? 0);
  if (reserve !== undefined) setInterval(() => disk.restore(), RESERVE_EVERY_MS).unref();
  const queue: WriteRequest[] = [];
  let running = false;

  /** Runs the commands in one transaction. `lacking`: those that failed for lack of space. */
  const commit = async (requests: WriteRequest[]): Promise<{ answers: WriteAnswer[]; lacking: WriteRequest[] }> => {
    const answers: WriteAnswer[] = [];
    const lacking: WriteRequest[] = [];
    if (disk.isFull()) disk.restore();
    const isReserved = disk.isFull();
    const works = requests.flatMap((request): Work[] => {
      if (isReserved && !runsWhileFull(request)) {
        answers.push({ id: request.id, ...plainly(storageFull()) });
        return [];
      }
      return [
        {
          run: (tx) => runNamed(context, tx, request),
          isDryRun: commandNamed(request.name).isDryRun(request.input as never),
          settle(result) {
            if ("value" in result) return void answers.push({ id: request.id, value: result.value });
            if (isFull(result.error)) lacking.push(request);
            answers.push({ id: request.id, ...plainly(result.error) });
          },
        },
      ];
    });
    if (works.length > 0) await commitTogether(db, raw, works, fence);
    return { answers, lacking };
  };
  const drain = async (): Promise<void> => {
    if (running) return;
    running = true;
    while (queue.length > 0) {
      // Commands that have arrived in the meantime join the same commit.
      while (queue.length < MAX_TOGETHER) {
        const next = receiveMessageOnPort(port);
        if (next === undefined) break;
        queue.push(...(next.message as WriteRequest[]));
      }
      const requests = queue.splice(0, MAX_TOGETHER);
      const { answers, lacking } = await commit(requests);
      // What may be written on the reserve is run again; the others fail, so that it lasts.
      if (lacking.length > 0 && disk.release()) {
        const again = await commit(lacking.filter(runsWhileFull));
        for (const answer of again.answers) answers[answers.findIndex(({ id }) => id === answer.id)] = answer;
      }
      port.postMessage(answers);
    }
    running = false;
  };
  port.on("message", (requests: WriteRequest[] | "close") => {
    if (requests === "close") {
      raw.close();
      port.close();
      return;
    }
    queue.push(...requests);
    void drain();
  });
  port.postMessage("ready");
}

async function runNamed(context: CommandContext, tx: Database, { name, data, input }: WriteRequest): Promise<unknown> {
  return await runCommand(commandNamed(name), { data, input, tx, context });
}

function plainly(error: unknown): { error: PlainError } | Fault {
  if (error instanceof MoorageError) return { error: toPlain(error) };
  if (isFull(error)) return { error: toPlain(storageFull()) };
  const fault = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { fault, isDamage: isDamage(error) };
}

function storageFull(): MoorageError {
  return new MoorageError(Code.ResourceExhausted, "Resource exhausted: storage is full", {
    retryAfterMs: RETRY_FULL_MS,
  });
}

// SQLITE_FULL, and the I/O error that some file systems return instead when a quota is reached.
function isFull(error: unknown): boolean {
  return (
    error instanceof Error && "errcode" in error && typeof error.errcode === "number" && (error.errcode & 0xff) === 13
  );
}
