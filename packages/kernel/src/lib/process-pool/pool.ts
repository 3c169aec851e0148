import { type PoolChild, startChild } from "./pool-child.ts";
import { TaskError, type TaskErrorKind } from "./task-error.ts";

export interface ProcessPoolOptions {
  /** The module that calls serveTasks: `.ts` from the sources, `.js` when packed. */
  module: URL;
  /** The most children; each does one task at a time. They start when tasks come. */
  size: number;
  /** The most memory of a child for objects of JavaScript, in MiB. */
  maxHeapMiB: number;
  /** The most memory of a child in all, in MiB, looked at ten times a second. Defaults to 512 more than its heap. */
  maxRssMiB?: number;
  /** A child that had nothing to do for so long ends; 0: it stays. */
  idleMs: number;
  /** How many tasks may wait for a child. Further ones are rejected as busy. */
  maxWaiting: number;
  /** The most of `bytes` of the tasks under way together; others wait. A task with more than that runs by itself. */
  maxWaitingBytes?: number;
  /** Given to the tasks of each child. Nothing else of this process is, apart from `environment`. */
  data?: unknown;
  /** The variables of the environment that children get. None are needed to run. */
  environment?: readonly string[];
  /** The priority of children, up to 19, which is the lowest. Defaults to 5: requests go first. */
  niceness?: number;
  /** Called when a child ended that should not have, or had to be ended: for log and metric. */
  onDeath?(reason: string, kind: TaskErrorKind): void;
}

interface RunOptions {
  /** How long the task may take from when a child takes it up. Then the child is killed. */
  timeoutMs: number;
  /** What the task weighs against `maxWaitingBytes`, such as the size of a document. */
  bytes?: number;
  /** Ends the waiting, or the task together with its child. */
  signal?: AbortSignal | undefined;
}

/** Child processes in which tasks run that could take forever, or all memory. */
export interface ProcessPool {
  /**
   * Runs a task of the pool's module in a child process. Input and output are cloned; large ones are best Buffers. An
   * input that is a function is called when the task begins, so that what waits takes no memory. Rejects with a
   * TaskError, and with what that function throws.
   */
  run<Output>(task: string, input: unknown, options: RunOptions): Promise<Output>;
  /** Kills all children, and waits for each at most a second. Tasks are rejected as aborted. */
  stop(): Promise<void>;
}

interface Job extends RunOptions {
  task: string;
  input: unknown;
  weight: number;
  /** Called when it waits no longer. */
  begins(): void;
  resolve(output: unknown): void;
  reject(error: unknown): void;
}

interface Member {
  child: PoolChild;
  hasAnswered: boolean;
  idle?: NodeJS.Timeout;
}

/** How long a child may take to load its module, in milliseconds. */
const MAX_START_MS = 60_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
const MORE_RSS_MIB = 512;
const NICENESS = 5;

export function processPool(options: ProcessPoolOptions): ProcessPool {
  const { size, maxHeapMiB, idleMs, maxWaiting, maxWaitingBytes = Infinity, onDeath = () => {} } = options;
  const { maxRssMiB = maxHeapMiB + MORE_RSS_MIB, niceness = NICENESS, environment = [] } = options;
  const members = new Set<Member>();
  const free: Member[] = [];
  const waiting: Job[] = [];
  let bytesUnderWay = 0;
  /** Children that died one after another before they had answered anything. */
  let deaths = 0;
  let pause: NodeJS.Timeout | undefined;
  let stopped = false;

  const start = (): Member => {
    const { module, data } = options;
    const child = startChild({ module, data, maxHeapMiB, maxRssMiB, niceness, environment });
    const member: Member = { child, hasAnswered: false };
    members.add(member);
    void child.ended.then((error) => {
      leave(member);
      members.delete(member);
      if (error !== undefined) {
        onDeath(error.message, error.kind);
        if (error.kind === "died" && !member.hasAnswered) deaths += 1;
        if (deaths > 0 && !stopped) pauseStarts();
      }
      proceed();
    });
    return member;
  };
  const pauseStarts = (): void => {
    clearTimeout(pause);
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (deaths - 1), LONGEST_PAUSE_MS);
    pause = setTimeout(() => {
      pause = undefined;
      proceed();
    }, pauseMs);
  };
  const leave = (member: Member): void => {
    clearTimeout(member.idle);
    const at = free.indexOf(member);
    if (at >= 0) free.splice(at, 1);
  };
  const proceed = (): void => {
    for (let [job] = waiting; job !== undefined && !stopped; [job] = waiting) {
      if (bytesUnderWay > 0 && bytesUnderWay + job.weight > maxWaitingBytes) return;
      const member =
        free.findLast(({ child }) => child.isAlive()) ??
        (members.size < size && pause === undefined ? start() : undefined);
      if (member === undefined) return;
      leave(member);
      waiting.shift();
      job.begins();
      void work(member, job);
    }
  };
  const work = async (member: Member, job: Job): Promise<void> => {
    const { child } = member;
    const { task, input, timeoutMs, signal } = job;
    const give = (error: TaskError): void => {
      child.kill(error);
      job.reject(error);
    };
    const onAbort = (): void => give(abortedBy("the caller"));
    const end = (kind: TaskErrorKind, message: string): void => {
      give(new TaskError(kind, message));
      onDeath(message, kind);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    let timer = setTimeout(() => end("died", "the process did not start in time"), MAX_START_MS);
    bytesUnderWay += job.weight;
    try {
      await child.ready;
      clearTimeout(timer);
      timer = setTimeout(() => end("timeout", `it took longer than ${timeoutMs} ms`), timeoutMs);
      const given: unknown = typeof input === "function" ? await (input as () => unknown)() : input;
      job.resolve(await child.run(task, given));
      member.hasAnswered = true;
    } catch (error) {
      member.hasAnswered ||= error instanceof TaskError && error.kind === "failed";
      job.reject(error);
    }
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    bytesUnderWay -= job.weight;
    if (member.hasAnswered) deaths = 0;
    rest(member);
    proceed();
  };
  const wait = (job: Job): void => {
    const { signal } = job;
    const giveUp = (error: TaskError): void => {
      const at = waiting.indexOf(job);
      if (at < 0) return;
      waiting.splice(at, 1);
      job.reject(error);
      proceed();
    };
    if (waiting.length > maxWaiting) return giveUp(new TaskError("busy", `${maxWaiting} tasks wait already`));
    const onAbort = (): void => giveUp(abortedBy("the caller"));
    signal?.addEventListener("abort", onAbort, { once: true });
    job.begins = () => signal?.removeEventListener("abort", onAbort);
  };
  const rest = (member: Member): void => {
    if (!member.child.isAlive() || stopped) return;
    free.push(member);
    if (idleMs > 0) member.idle = setTimeout(() => member.child.kill(abortedBy("the pool")), idleMs).unref();
  };
  return {
    run<Output>(task: string, input: unknown, { timeoutMs, bytes = 0, signal }: RunOptions): Promise<Output> {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      if (stopped || signal?.aborted === true) reject(abortedBy(stopped ? "the pool" : "the caller"));
      else {
        const weight = Math.min(bytes, maxWaitingBytes);
        const job: Job = { task, input, timeoutMs, signal, weight, begins: () => {}, resolve, reject };
        waiting.push(job);
        proceed();
        if (waiting.includes(job)) wait(job);
      }
      return promise as Promise<Output>;
    },
    async stop() {
      stopped = true;
      clearTimeout(pause);
      for (const job of waiting.splice(0)) job.reject(abortedBy("the pool"));
      for (const { child } of members) child.kill(abortedBy("the pool"));
      await Promise.all([...members].map(({ child }) => child.ended));
    },
  };
}

function abortedBy(whom: string): TaskError {
  return new TaskError("aborted", `${whom} ended it`);
}
