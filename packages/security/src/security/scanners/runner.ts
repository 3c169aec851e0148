import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { toJsonString } from "@bufbuild/protobuf";
import { ScannerAdapterSchema, ScanType } from "@moorage/api/messages";
import type { Config } from "@moorage/kernel/config";
import type { CallData } from "@moorage/kernel/core/call";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import { TaskError } from "@moorage/kernel/lib/process-pool";
import { SecretError, type Secrets } from "@moorage/kernel/lib/secrets";
import { createTasks, startWorker, type Wakes, whileHeld } from "@moorage/kernel/work";
import type { Tokens } from "@moorage/platform/auth";
import type { Logger } from "pino";
import { itemsOf } from "../catalog/parts.ts";
import type { Component } from "../catalog/types.ts";
import { AdapterError } from "./adapter.ts";
import { isAnyMoved, requestAutomaticScans } from "./automatic.ts";
import { credentialPlace } from "./credentials.ts";
import { dueScanners } from "./due.ts";
import {
  acceptScan,
  claimScan,
  type ClaimedScan,
  failScan,
  finishScan,
  HOLD_MS,
  PULL,
  releaseScan,
  renewScan,
  type StoredReport,
  writeScannedPart,
} from "./queue.ts";
import type { ReadScanned } from "./read-report.ts";
import { ReportError } from "./report.ts";
import { type Scanned, scanWith } from "./scan-with.ts";

export interface ScanRunnerDeps {
  transactor: Transactor;
  wakes: Wakes;
  /** Mints the tokens with which adapters pull. */
  tokens: Pick<Tokens, "mint">;
  secrets: Secrets;
  clock: Clock;
  log: Logger;
  config: Pick<
    Config,
    | "allowPrivateNetwork"
    | "dnsServers"
    | "registryUrl"
    | "registryAudience"
    | "scanConcurrency"
    | "scanTimeoutMs"
    | "scanRetryMs"
    | "workPollMs"
  >;
  metrics: ScanMetrics;
  /** Reads a large report in another process. Throws a TaskError. */
  readElsewhere(content: Uint8Array, isSbom: boolean): Promise<ReadScanned>;
}

/** What is counted. */
interface ScanMetrics {
  started(type: string): void;
  /** Counts an attempt that has ended, after so many milliseconds. */
  ended(type: string, outcome: Outcome, ms: number): void;
}

/** How an attempt ended: with a report, for good, for a while, or for this process alone. */
type Outcome = "done" | "failed" | "again" | "interrupted";

/** The most scans that one process has under way; each may hold a report in memory. */
const MAX_UNDER_WAY = 8;
/** The largest report that is read between requests, in bytes. */
const MAX_READ_HERE = 128 << 10;
const compress = promisify(gzip);

/**
 * Has scanners scan what is due, several images concurrently; processes share the work. `stop` ends what is under way,
 * which another process or the next start does again.
 */
export function startScans(deps: ScanRunnerDeps): { stop(): Promise<void> } {
  const { transactor, tokens, secrets, clock, log, config, metrics } = deps;
  const holder = randomUUID();
  const stopping = new AbortController();
  const underWay = createTasks<string>({ most: MAX_UNDER_WAY, ended: () => worker.wake() });
  const data = (): CallData => systemCallNow(clock);

  const tokenFor = async ({ uid, repo, path, digest, identity }: ClaimedScan): Promise<string> => {
    const { token } = await tokens.mint({
      type: "registry",
      identity,
      audiences: [config.registryAudience],
      ttlMs: config.scanTimeoutMs,
      nowMs: clock.nowMs(),
      access: [{ type: "repository", name: path, actions: ["pull"], digest }],
      capabilities: [...PULL],
      scopes: [repo],
      act: { scan: uid },
    });
    return token;
  };
  /** The last scan, or undefined when the hold was lost or the process shuts down. */
  const attempt = async (claimed: ClaimedScan, signal: AbortSignal): Promise<Scanned | undefined> => {
    const { url, credential } = claimed.scanner;
    const authorization = credential === "" ? "" : secrets.open(credential, credentialPlace(claimed.scanner.uid));
    const place = { uid: claimed.uid, holder };
    return await scanWith({
      address: { url, authorization },
      image: claimed,
      registry: { url: config.registryUrl, authorization: `Bearer ${await tokenFor(claimed)}` },
      config,
      signal,
      timeoutMs: config.scanTimeoutMs,
      accepted: async (adapter) => {
        const said = { adapter: toJsonString(ScannerAdapterSchema, adapter), scanner: claimed.scanner.uid };
        return (await transactor.write(acceptScan, data(), { ...place, ...said })).held;
      },
    });
  };
  const store = async (
    place: { uid: string; holder: string },
    { parts, ...report }: StoredReport & Pick<ReadScanned, "parts">,
  ): Promise<Outcome> => {
    let from = 0;
    for (const each of parts) {
      const part = { ...place, from, components: itemsOf<Component>(each) };
      if (!(await transactor.write(writeScannedPart, data(), part)).held) return "interrupted";
      from += part.components.length;
    }
    const { held } = await transactor.write(finishScan, data(), { ...place, report });
    return held ? "done" : "interrupted";
  };
  const release = async (place: { uid: string; holder: string }): Promise<Outcome> => {
    await transactor.write(releaseScan, data(), place);
    return "interrupted";
  };
  const scanOne = async (claimed: ClaimedScan): Promise<Outcome> => {
    const place = { uid: claimed.uid, holder };
    const renew = (): Promise<{ held: boolean }> => transactor.write(renewScan, data(), place);
    return await whileHeld({ renew, holdMs: HOLD_MS, log, what: "a scan" }, async (lost) => {
      try {
        const scanned = await attempt(claimed, AbortSignal.any([stopping.signal, lost]));
        if (scanned === undefined) return await release(place);
        return await store(place, await storedOf(scanned, claimed.type, deps.readElsewhere));
      } catch (error) {
        const failure = failureOf(error);
        if (failure === undefined) throw error;
        if (stopping.signal.aborted || lost.aborted) return await release(place);
        log.warn({ scan: claimed.uid, scanner: claimed.scanner.uid, reason: failure.reason }, "a scan failed");
        const failed = await transactor.write(failScan, data(), { ...place, ...failure, delaysMs: config.scanRetryMs });
        return failed ?? "interrupted";
      }
    });
  };
  const begin = (claimed: ClaimedScan): void => {
    const type = claimed.type === ScanType.SBOM ? "sbom" : "vulnerability";
    const startedMs = clock.monotonicMs();
    metrics.started(type);
    const task = scanOne(claimed)
      .catch((error: unknown): Outcome => {
        log.warn({ err: error, scan: claimed.uid }, "a scan ended without a result");
        return "interrupted";
      })
      .then((outcome) => metrics.ended(type, outcome, clock.monotonicMs() - startedMs));
    underWay.start(claimed.uid, task);
  };
  const lookAtTags = async (): Promise<void> => {
    if (!(await transactor.read(data(), (call) => isAnyMoved(call.tx)))) return;
    while (!stopping.signal.aborted && (await transactor.write(requestAutomaticScans, data(), {})).more);
  };
  const poll = async (): Promise<number | void> => {
    let againMs: number | undefined;
    await lookAtTags();
    if (!underWay.hasPlace()) return;
    const due = await transactor.read(data(), (call) => dueScanners(call.tx, clock.agreedMs()));
    const input = { holder, concurrency: config.scanConcurrency, maxAttempts: config.scanRetryMs.length + 1 };
    for (const scanner of due)
      for (let isMore = true; isMore && underWay.hasPlace() && !stopping.signal.aborted;) {
        const { claimed, again = false, laterMs } = await transactor.write(claimScan, data(), { ...input, scanner });
        if (claimed !== undefined) begin(claimed);
        againMs ??= laterMs;
        isMore = claimed !== undefined || again;
      }
    return againMs;
  };
  const { workPollMs: pollMs } = config;
  const worker = startWorker({ run: poll, pollMs, stopping, log, what: "looking for scans that are due" });
  deps.wakes.on("scans", worker.wake);
  return {
    async stop() {
      await worker.stop();
      await underWay.settled();
    },
  };
}

/** Why an attempt failed, if it is no error of the server itself. */
function failureOf(error: unknown): { reason: string; isFinal: boolean } | undefined {
  if (error instanceof AdapterError) return { reason: error.message, isFinal: error.isFinal };
  if (error instanceof ReportError) return { reason: `the report cannot be used: ${error.message}`, isFinal: true };
  if (error instanceof TaskError) return { reason: `the report was not read: ${error.message}`, isFinal: false };
  if (error instanceof SecretError)
    return { reason: "the scanner's authorization was sealed with another key: set it anew", isFinal: true };
  return undefined;
}

async function storedOf(
  { content, mimeType, adapter }: Scanned,
  type: ScanType,
  readElsewhere: ScanRunnerDeps["readElsewhere"],
): Promise<StoredReport & Pick<ReadScanned, "parts">> {
  const { software, counts, packages, parts } = await read(content, type === ScanType.SBOM, readElsewhere);
  const { name, vendor, version } = adapter;
  // A report may leave out what made it.
  const by = software.name === "" ? { name, vendor, version } : software;
  return {
    content: await compress(content),
    size: content.length,
    mimeType,
    software: JSON.stringify(by),
    counts: counts === null ? null : JSON.stringify(counts),
    packages,
    parts,
  };
}

/** Reads a report in this process, whatever its size. Throws a ReportError. */
export async function readReportHere(content: Uint8Array, isSbom: boolean): Promise<ReadScanned> {
  // With the readers of archives that it brings, loaded at its first use: a server without scanners never needs it.
  const { readScanned } = await import("./read-report.ts");
  return await readScanned(content, isSbom);
}

/** Throws a ReportError, or a TaskError when the process did not come to an end. */
async function read(
  content: Uint8Array,
  isSbom: boolean,
  readElsewhere: ScanRunnerDeps["readElsewhere"],
): Promise<ReadScanned> {
  if (content.length <= MAX_READ_HERE) return await readReportHere(content, isSbom);
  try {
    return await readElsewhere(content, isSbom);
  } catch (error) {
    if (!(error instanceof TaskError)) throw error;
    if (error.kind === "failed" && error.isFinal) throw new ReportError(error.message);
    // It would come to that again.
    if (error.kind === "memory" || error.kind === "timeout")
      throw new ReportError(`reading it failed: ${error.message}`);
    throw error;
  }
}
