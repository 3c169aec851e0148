import { randomUUID } from "node:crypto";
import { openStreamClient } from "@moorage/kernel/lib/stream-client";
import type { Row } from "@moorage/kernel/store";
import { createTasks, startWorker, type Tasks, type Wakes, type Worker } from "@moorage/kernel/work";
import { attemptItem } from "./attempt.ts";
import { claimItem } from "./commands.ts";
import { type ReplicationDeps, replicationCall } from "./context.ts";
import { createByteRates } from "./byte-rates.ts";
import { scanRule } from "./scan.ts";

/** Pushes images to other registries, in one process. */
export interface Replication {
  /** Starts to, if the settings give this process workers. */
  start(wakes: Wakes): void;
  /** Interrupts all pushes: they go on when a process starts. */
  close(): Promise<void>;
}

const CONNECTIONS = 8;
const CONNECT_TIMEOUT_MS = 10_000;
const HEAD_TIMEOUT_MS = 60_000;
const SILENCE_TIMEOUT_MS = 60_000;
// Of one rule in one process, so that a slow destination leaves others their place.
const MOST_OF_RULE = 2;
// What no wake-up of this process says is looked for so many polls later.
const SCAN_EVERY_POLLS = 30;
const MAX_RULES = 10_000;

export function openReplication(deps: ReplicationDeps): Replication {
  const client = openStreamClient({
    allowPrivateNetwork: deps.config.allowPrivateNetwork,
    dnsServers: deps.config.dnsServers,
    connections: CONNECTIONS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    headTimeoutMs: HEAD_TIMEOUT_MS,
    silenceTimeoutMs: SILENCE_TIMEOUT_MS,
  });
  const stopping = new AbortController();
  const workers: Worker[] = [];
  const byteRateOf = createByteRates();
  let pusher: Worker | undefined;
  const running: Tasks<{ rule: string }> = createTasks({
    most: Math.max(1, deps.config.mirrorWorkers),
    ended: () => pusher?.wake(),
  });

  const pushDue = async (): Promise<void> => {
    // Pushes wake this on every server. Most have no rule, and then nothing is claimed.
    if (!(await isAnyEnabled(deps))) return;
    while (running.hasPlace() && !stopping.signal.aborted) {
      const holder = randomUUID();
      const claimed = await deps.transactor.write(claimItem, replicationCall(deps), { holder, busy: busyIn(running) });
      if (claimed === undefined) return;
      if (claimed === "failed") continue;
      const { rule } = claimed;
      const byteRate = byteRateOf(rule.uid, rule.bytes_per_second);
      const task = attemptItem(deps, client, { claimed, holder, byteRate }, stopping.signal).catch((error: unknown) =>
        deps.log.warn({ err: error, replication: rule.uid }, "how a replicated tag ended could not be recorded"),
      );
      running.start({ rule: rule.uid }, task);
    }
  };

  return {
    start(wakes) {
      if (deps.config.mirrorWorkers === 0) return;
      pusher = startWorker({
        run: pushDue,
        what: "looking for tags to replicate",
        pollMs: deps.config.workPollMs,
        stopping,
        log: deps.log,
      });
      const scans = createScans(deps, stopping.signal);
      const scanner = startWorker({
        run: () => scans.run(),
        what: "comparing tags with what was replicated",
        pollMs: deps.config.workPollMs,
        stopping,
        log: deps.log,
      });
      workers.push(pusher, scanner);
      wakes.on("replications", () => {
        scans.woken();
        scanner.wake();
      });
      wakes.on("replications", pusher.wake);
    },
    async close() {
      stopping.abort();
      for (const worker of workers) await worker.stop();
      await running.settled();
      await client.close();
    },
  };
}

/** The rules of which this process pushes as much as it may. */
function busyIn({ underWay }: Tasks<{ rule: string }>): string[] {
  const counts = new Map<string, number>();
  for (const { rule } of underWay) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  return [...counts].filter(([, count]) => count >= MOST_OF_RULE).map(([rule]) => rule);
}

/** Compares the rules that are due, and, when it is woken or now and then, those that push what moves. */
function createScans(deps: ReplicationDeps, signal: AbortSignal): { run(): Promise<void>; woken(): void } {
  let isWoken = true;
  let pollMs = 0;
  return {
    woken: () => void (isWoken = true),
    async run() {
      const isPoll = performance.now() >= pollMs;
      const looks = isPoll || isWoken;
      if (isPoll) pollMs = performance.now() + SCAN_EVERY_POLLS * deps.config.workPollMs;
      isWoken = false;
      for (const rule of await enabledRules(deps)) {
        if (signal.aborted) return;
        const isWhole = isDue(rule, deps.clock.agreedMs());
        if (!isWhole && !(rule.on_push === 1 && looks)) continue;
        await scanRule(deps, rule, { isWhole, withAttached: isWhole || isPoll }, signal).catch((error: unknown) =>
          deps.log.warn({ err: error, replication: rule.uid }, "a replication could not be compared"),
        );
      }
    },
  };
}

function isAnyEnabled(deps: ReplicationDeps): Promise<boolean> {
  return deps.transactor.read(
    replicationCall(deps),
    async ({ tx }) =>
      (await tx.selectFrom("replications").select("uid").where("disabled", "=", 0).limit(1).execute()).length > 0,
  );
}

function enabledRules(deps: ReplicationDeps): Promise<Row<"replications">[]> {
  return deps.transactor.read(replicationCall(deps), ({ tx }) =>
    tx.selectFrom("replications").selectAll().where("disabled", "=", 0).orderBy("uid").limit(MAX_RULES).execute(),
  );
}

function isDue({ scan_time: dueMs }: Row<"replications">, agreedMs: number): boolean {
  return dueMs !== null && dueMs <= agreedMs;
}
