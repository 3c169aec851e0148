import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { collectInstallation, loadConfig } from "../../../src/index.ts";
import type { Dice } from "../dice.ts";
import type { Replicas } from "../replicas.ts";
import { inheritedEnv } from "../environment.ts";
import { eventually } from "../eventually.ts";

/** How often a race was disturbed, by kind. */
type Disturbances = Record<(typeof KINDS)[number], number>;

export interface Disturber {
  done: Disturbances;
  /**
   * Disturbs the servers one way after the other, first with a kill, until the race is over. Every server answers again
   * when it resolves.
   */
  disturb(dice: Dice, isOver: () => boolean): Promise<void>;
  /** Runs `moorage gc` to its end and returns its output. Throws with the output when it fails. */
  collect(): Promise<string>;
}

const KINDS = [
  "serverKills",
  "workerKills",
  "aimedKills",
  "stalls",
  "collections",
  "collectionKills",
  "slowCollections",
  "ownCollections",
] as const;
const MOORAGE = fileURLToPath(new URL("../../../../cli/src/main.ts", import.meta.url));
const COLLECTED = "garbage collected";
const COLLECT_TIMEOUT_MS = 60_000;
const PAUSE_MS = 700;
const MOST_HALTS = 25;
const AIM_TIMEOUT_MS = 3_000;

interface Collecting {
  killAfterMs?: number;
  began?: (child: ChildProcess) => void;
}

/**
 * Runs collections continuously, kills processes with SIGKILL, and stops them for up to one and a half times the grace,
 * like a paused virtual machine. `graceMs`: the servers' setting.
 */
export function disturberOf(replicas: Replicas, graceMs: number): Disturber {
  const done = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Disturbances;
  const { env, servers } = replicas;
  const config = loadConfig(env);
  const workers = Number(env["MOORAGE_WORKERS"] ?? 1);

  /** Runs `moorage gc`. `began` is called when it has reported the first repo. */
  const collect = async ({ killAfterMs = COLLECT_TIMEOUT_MS, began }: Collecting = {}): Promise<{
    status: number | string;
    said: string;
  }> => {
    const child = spawn(process.execPath, [MOORAGE, "gc"], {
      env: { ...inheritedEnv(), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const said: string[] = [];
    child.stdout.once("data", () => began?.(child));
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => void said.push(text));
    const timer = setTimeout(() => child.kill("SIGKILL"), killAfterMs);
    const [code, signal] = (await once(child, "close")) as [number | null, string | null];
    clearTimeout(timer);
    return { status: code ?? signal ?? "", said: said.join("") };
  };
  const collectWhole = async (): Promise<string> => {
    const { status, said } = await collect();
    if (status !== 0) throw new Error(`moorage gc ended with ${status}: ${said}`);
    done.collections += 1;
    return said;
  };

  const killServer = async (dice: Dice): Promise<void> => {
    await replicas.replace(dice.below(servers.length));
    done.serverKills += 1;
  };
  const killWorker = async (dice: Dice): Promise<void> => {
    const server = dice.pick(servers);
    const listening = () => server.lines.filter(({ msg }) => msg === "listening");
    const before = listening();
    const number = 1 + dice.below(workers);
    // The last process with the number is the running one.
    const victim = before.findLast(({ worker }) => worker === number);
    if (victim === undefined) throw new Error(`worker ${number} has never listened`);
    process.kill(victim.pid, "SIGKILL");
    done.workerKills += 1;
    await eventually(() => listening().length !== before.length);
  };
  /** Kills a server shortly after it ended a collection, at about the time when its next one begins. */
  const aim = async (dice: Dice): Promise<void> => {
    const index = dice.below(servers.length);
    const lines = servers[index]?.lines ?? [];
    const from = lines.length;
    const endMs = performance.now() + AIM_TIMEOUT_MS;
    await eventually(() => !(!lines.slice(from).some(({ msg }) => msg === COLLECTED) && performance.now() < endMs));
    await wait(dice.below(2) * 1_000 + dice.below(200));
    await replicas.replace(index);
    done.aimedKills += 1;
  };
  const stall = async (dice: Dice): Promise<void> => {
    const { pid } = dice.pick(servers);
    process.kill(pid, "SIGSTOP");
    await wait(graceMs / 2 + dice.below(graceMs));
    process.kill(pid, "SIGCONT");
    done.stalls += 1;
  };
  const killCollection = async (dice: Dice): Promise<void> => {
    // The range includes the time that the process takes to start.
    const { status, said } = await collect({ killAfterMs: 250 + dice.below(800) });
    if (status !== 0 && status !== "SIGKILL") throw new Error(`moorage gc ended with ${status}: ${said}`);
    done[status === 0 ? "collections" : "collectionKills"] += 1;
  };

  /** Stops a collection again and again, so that what it has read is old when it deletes. */
  const slowCollection = async (dice: Dice): Promise<void> => {
    const halt = async (child: ChildProcess): Promise<void> => {
      for (let times = 0; times < MOST_HALTS && child.exitCode === null && child.signalCode === null; times++) {
        child.kill("SIGSTOP");
        await wait(100 + dice.below(200));
        child.kill("SIGCONT");
        await wait(1 + dice.below(15));
      }
    };
    const { status, said } = await collect({ began: (child) => void halt(child) });
    if (status !== 0) throw new Error(`a slow moorage gc ended with ${status}: ${said}`);
    done.slowCollections += 1;
  };

  const collections = [killCollection, killCollection, collectWhole, slowCollection, slowCollection];
  // A server of several processes takes long to start again, so single workers are killed more often.
  const kills = workers > 1 ? [killWorker, killWorker, killWorker, aim] : [killServer, aim, stall];
  const all: ((dice: Dice) => Promise<unknown>)[] = [...collections, ...kills];
  // Servers collect as well, but after a kill during a collection not until its lease has run out, which takes minutes.
  const collectOften = async (isOver: () => boolean): Promise<void> => {
    while (!isOver()) {
      await wait(PAUSE_MS);
      await collectInstallation(config, { dryRun: false });
      done.ownCollections += 1;
    }
  };
  const disturbAll = async (dice: Dice, isOver: () => boolean): Promise<void> => {
    await wait(500 + dice.below(1_500));
    await (workers > 1 ? killWorker : killServer)(dice);
    while (!isOver()) {
      await wait(300 + dice.below(1_700));
      if (!isOver()) await dice.pick(all)(dice);
    }
  };
  return {
    done,
    collect: collectWhole,
    async disturb(dice, isOver) {
      await Promise.all([disturbAll(dice, isOver), collectOften(isOver)]);
    },
  };
}
