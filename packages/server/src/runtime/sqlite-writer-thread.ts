import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { CallData } from "@moorage/kernel/core/call";
import type { ServiceContext } from "@moorage/kernel/core/service";
import type { Work as Waking } from "@moorage/kernel/core/work";
import { MoorageError, type PlainError, toPlain } from "@moorage/kernel/errors";
import { diskReserve } from "@moorage/kernel/lib/disk-reserve";
import { createSecrets } from "@moorage/kernel/lib/secrets";
import { faultIn, storageFault } from "@moorage/kernel/lib/storage-fault";
import {
  type ChangeKeys,
  commitTogether,
  type Database,
  type FileIdentity,
  isDamage,
  sqliteMeaning,
  type Work,
} from "@moorage/kernel/store";
import { loadEcosystems } from "@moorage/libraries/libraries";
import { type CommandContext, commandContext, commandNamed, type Ran, runCommand } from "./commands.ts";
import { methodsOf } from "./methods.ts";
import { type WriterConnection, writerConnection } from "./writer-connection.ts";

/**
 * The data that the thread starts with: what services are made with, but for what cannot be sent to a thread, or is not
 * needed to write.
 */
export interface WriterThreadData extends Omit<ServiceContext, "secrets" | "readBlob" | "providers" | "sinks"> {
  path: string;
  /** Of the file as it was when the server started. */
  identity: FileIdentity;
  /** Whether an earlier thread has died: then a file that cannot be opened fails each write, and not the start. */
  isRestarted: boolean;
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
/** Has the thread commit something that changes nothing. */
export interface ProbeRequest {
  id: number;
  probe: true;
}
/** To the thread. */
export type ToWriter = (WriteRequest | ProbeRequest)[] | "close";
/**
 * A command's result. `wakes`: the background work to wake, where there is any. `fault` describes an unexpected error,
 * for the log; `isDamage`: the file is damaged.
 */
export type WriteAnswer = { id: number } & (
  | { value: unknown; wakes?: readonly Waking[] }
  | { error: PlainError }
  | Fault
);
interface Fault {
  fault: string;
  isDamage: boolean;
}
/** From the thread. `reserve`: why the disk reserve cannot be kept; undefined when it can again. */
export type FromWriter = "ready" | WriteAnswer[] | { reserve: string | undefined };

const MAX_TOGETHER = 256;
// A server that runs only for a moment does not write the reserve.
const RESERVE_EVERY_MS = 10_000;

/** Has a thread that was started without data serve a server, which talks with it over a port of its own. */
export interface ServeRequest {
  port: MessagePort;
  data: WriterThreadData;
}
/** Over such a port: the server cannot be served, and the port is closed. */
export interface ServeFault {
  failed: unknown;
}

if (parentPort !== null) {
  if (workerData === null) parentPort.on("message", serveFurther);
  else await start(parentPort, workerData as WriterThreadData);
}

function serveFurther({ port, data }: ServeRequest): void {
  start(port, data).catch((failed: unknown) => {
    port.postMessage({ failed } satisfies ServeFault);
    port.close();
  });
}

/** What fails here ends the thread. */
async function start(port: MessagePort, data: WriterThreadData): Promise<void> {
  await loadEcosystems(data.ecosystems ?? []);
  serve(port, data);
}

function serve(
  port: MessagePort,
  { path, identity, isRestarted, secretKeys, reserve, ...settings }: WriterThreadData,
): void {
  const connection = writerConnection(path, identity);
  if (!isRestarted) connection.current();
  const secrets = createSecrets(secretKeys);
  // Methods that read blobs or call other providers are not writing methods, so they never run in this thread.
  const methods = methodsOf({ ...settings, secrets, readBlob: async () => undefined });
  const organization = settings.installation?.organization;
  const context = commandContext({ methods, admins: settings.admins, secrets, terms: settings.terms, organization });
  const send = (message: FromWriter): void => port.postMessage(message);
  const disk = diskReserve(reserve?.dataDir ?? "", reserve?.bytes ?? 0, {
    onFault: (error) => send({ reserve: error === undefined ? undefined : messageOf(error) }),
  });
  const restoring = reserve && setInterval(() => disk.restore(), RESERVE_EVERY_MS).unref();
  const queue: (WriteRequest | ProbeRequest)[] = [];
  let running = false;

  /** Runs the commands in one transaction. `lacking`: those that failed for lack of space. */
  const commit = async (requests: Requests): Promise<{ answers: WriteAnswer[]; lacking: WriteRequest[] }> => {
    const answers: WriteAnswer[] = [];
    const lacking: WriteRequest[] = [];
    if (disk.isFull()) disk.restore();
    const isReserved = disk.isFull();
    const meaningOf = translator(path);
    const fail = (request: WriteRequest | ProbeRequest, thrown: unknown): void => {
      const error = meaningOf(thrown);
      const fault = faultIn(error);
      if (fault !== undefined) connection.failed();
      if (fault?.reason === "full" && "name" in request) lacking.push(request);
      answers.push({ id: request.id, ...plainly(error) });
    };
    const works = requests.flatMap((request): Work[] => {
      if (isReserved && !("name" in request && runsWhileFull(request))) {
        answers.push({ id: request.id, ...plainly(storageFull()) });
        return [];
      }
      try {
        return [
          {
            run: async (tx) => ("name" in request ? await runNamed(context, tx, request) : writeNothing(connection)),
            isDeferred: "name" in request && commandNamed(request.name).durability === "deferred",
            changes: (ran) => ("name" in request ? changesOf(request, ran as Ran) : []),
            isDryRun: "name" in request && commandNamed(request.name).isDryRun(request.input as never),
            settle: (result) =>
              "value" in result
                ? void answers.push({ id: request.id, ...answerOf(result.value as Ran | undefined) })
                : fail(request, result.error),
          },
        ];
      } catch (error) {
        fail(request, error);
        return [];
      }
    });
    if (works.length === 0) return { answers, lacking };
    try {
      const { db, raw, fence } = connection.current();
      await commitTogether(db, raw, works, fence);
    } catch (error) {
      for (const work of works) work.settle({ error });
    }
    return { answers, lacking };
  };
  const answersTo = async (requests: Requests): Promise<WriteAnswer[]> => {
    const { answers, lacking } = await commit(requests);
    // What may be written on the reserve is run again; the others fail, so that it lasts.
    if (lacking.length > 0 && disk.release()) {
      const again = await commit(lacking.filter(runsWhileFull));
      for (const answer of again.answers) answers[answers.findIndex(({ id }) => id === answer.id)] = answer;
    }
    return answers;
  };
  const close = (): void => {
    clearInterval(restoring);
    connection.close();
    port.close();
  };
  const take = (message: ToWriter): void => {
    if (message === "close") close();
    else queue.push(...message);
  };
  const drain = async (): Promise<void> => {
    if (running) return;
    running = true;
    while (queue.length > 0) {
      // Commands that have arrived in the meantime join the same commit.
      while (queue.length < MAX_TOGETHER) {
        const next = receiveMessageOnPort(port);
        if (next === undefined) break;
        take(next.message as ToWriter);
      }
      const requests = queue.splice(0, MAX_TOGETHER);
      try {
        send(await answersTo(requests));
      } catch (error) {
        // A defect, such as a result that cannot be sent. Nobody must wait for ever.
        send(requests.map(({ id }) => ({ id, ...plainly(error) })));
      }
    }
    running = false;
  };
  port.on("message", (message: ToWriter) => {
    take(message);
    void drain();
  });
  send("ready");
}

type Requests = readonly (WriteRequest | ProbeRequest)[];

function runsWhileFull({ name, input }: WriteRequest): boolean {
  // The signature of Transactor.write says that the input is this command's.
  return commandNamed(name).runsWhileFull(input as never);
}

function changesOf({ name, input }: WriteRequest, { output }: Ran): ChangeKeys | undefined {
  return commandNamed(name).changes(input as never, output);
}

async function runNamed(context: CommandContext, tx: Database, { name, data, input }: WriteRequest): Promise<Ran> {
  return await runCommand(commandNamed(name), { data, input, tx, context });
}

/** Most commands wake nothing, and then nothing is sent of it. A probe has no result. */
function answerOf(ran: Ran | undefined): { value: unknown; wakes?: readonly Waking[] } {
  const { output, wakes = [] } = ran ?? { output: undefined };
  return { value: output, ...(wakes.length > 0 && { wakes }) };
}

/** Writes what is there already, which the disk has to take all the same. */
function writeNothing(connection: WriterConnection): void {
  const { raw } = connection.current();
  const { user_version: version } = raw.prepare("pragma user_version").get() as { user_version: number };
  raw.exec(`pragma user_version = ${version}`);
}

/** Translates the errors of one commit. The folder is asked once for all errors of a kind. */
function translator(path: string): (error: unknown) => unknown {
  const known = new Map<unknown, unknown>();
  return (error) => {
    const code = error instanceof Error && "errcode" in error ? error.errcode : undefined;
    if (code === undefined) return error;
    if (!known.has(code)) known.set(code, sqliteMeaning(error, path));
    const meaning = known.get(code);
    return faultIn(meaning) === undefined ? error : meaning;
  };
}

function plainly(error: unknown): { error: PlainError } | Fault {
  if (error instanceof MoorageError) return { error: toPlain(error) };
  const fault = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { fault, isDamage: isDamage(error) };
}

function storageFull(): MoorageError {
  return storageFault({ part: "database", reason: "full" }, new Error("the disk was full, and has no space yet"));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
