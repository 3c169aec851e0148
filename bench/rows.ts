import type { Alone, AloneResult } from "./alone.ts";
import type { PostgresAlone } from "./alone-postgres.ts";
import type { Engine, Installation } from "./installations.ts";
import type { LoadResult } from "./load.ts";
import type { Loader } from "./loader.ts";
import type { Moorage } from "./moorage.ts";
import { ask, SERVER_CORE, type Server } from "./processes.ts";
import type { Registry } from "./registries.ts";

/**
 * One measurement. `cpuUs`: the server's processor time for a request, or for a MB; `loadShare`: the share of its core
 * that the load generator used.
 */
export interface Sample {
  rate: number;
  cpuUs?: number;
  loadShare?: number;
  failure?: string;
}

/** The number of the round (round 0 warms up and does not count), and how long to measure. */
export interface Round {
  round: number;
  durationMs: number;
}

/** A row to compare a row with, by its title, with the goal if there is one. */
export interface Against {
  title: string;
  /** The minimum ratio: of the rates, or of the processor times with `byCpu`. */
  goal?: number;
  byCpu?: boolean;
  /** The maximum ratio, where less is better. */
  most?: number;
}

/** A row of the report. `rate` is in `unit`: in "ms" a time, of which less is better. */
export interface Row {
  title: string;
  unit: "/s" | "MB/s" | "ms";
  /** What takes time before the first round, and is not needed when the row is not measured. */
  prepare?(): Promise<void>;
  measure(round: Round): Promise<Sample>;
  against?: Against[];
  /** The minimum rate, if there is a goal; the maximum, where less is better. */
  least?: number;
  most?: number;
}

/** Rows that are measured alternately, round by round. */
export interface Section {
  title: string;
  rows: Row[];
  /** Whether every second round measures the rows from the last to the first. */
  alternates?: boolean;
}

export interface Sizes {
  repos: number[];
  tags: number;
  rounds: number;
  roundMs: number;
  warmMs: number;
  blobBytes: number;
  smallBlobBytes: number;
  /** At most 6,553: ten times as many are imported as well. */
  feedRecords: number;
  /** Images with findings, and how many records of the feed change at a time: at most a fifth as many. */
  images: number;
  deltaRecords: number;
  /** Libraries, and versions of one of them. */
  artifacts: number;
  connections: number;
}

/** An engine's part of the benchmark: all servers are started and ready. */
export interface Bench {
  engine: Engine;
  loader: Loader;
  sizes: Sizes;
  hello: Server;
  grpcHello: Server;
  /** One for each number of repos, the largest last. */
  servers: { moorage: Moorage; installation: Installation }[];
  /** The last of them. */
  largest: { moorage: Moorage; installation: Installation };
  /** A folder for files with requests. */
  scratch: string;
  /** The folder with the seeded databases. */
  cacheFolder: string;
  peers: Registry[];
  /** A server on a copy of the smallest installation, with the default access log. */
  logged?: Moorage;
  /** A server on another copy of it that emits no events for pulls. */
  silent?: Moorage;
  /** A server that does not count pulls. */
  uncounted?: Moorage;
  /** A server with policies of signatures. */
  signed?: Moorage;
  /** And one that does not read what images hold. */
  unread?: Moorage;
  /** Beside servers on PostgreSQL, one on SQLite. */
  onSqlite?: Moorage;
}

export const HELLO = "node:http hello, nothing else";
export const GRPC_HELLO = "grpc-js hello, nothing else";
const ALONE_TIMEOUT_MS = 60_000;
const GRPC_CONNECTIONS = 4;

export function count(value: number): string {
  return value.toLocaleString("en");
}

/** A request without a body, in the bytes for the socket. */
export function get(path: string, authorization = "", accept = "*/*"): string {
  return `GET ${path} HTTP/1.1\r\nhost: bench\r\naccept: ${accept}\r\n${authorization}\r\n`;
}

export function post(path: string, authorization: string, type: string, body: string): string {
  return `POST ${path} HTTP/1.1\r\nhost: bench\r\n${authorization}content-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** A sample of what the load generator counted, and of the processor time that the server used for it. */
export function sampleOf(result: LoadResult, usedUs?: number): Sample {
  const { answers, failures, firstFailure, elapsedMs, loadShare } = result;
  return {
    rate: (answers * 1000) / elapsedMs,
    loadShare,
    ...(usedUs !== undefined && answers > 0 && { cpuUs: usedUs / answers }),
    ...(failures > 0 && { failure: `${failures} of ${answers} failed: ${firstFailure}` }),
    ...(answers === 0 && { failure: "no answer at all" }),
  };
}

export async function sampled(server: Server, load: () => Promise<LoadResult>): Promise<Sample> {
  const before = server.cpuUs();
  const result = await load();
  const after = server.cpuUs();
  return sampleOf(result, before === undefined || after === undefined ? undefined : after - before);
}

/** The number of concurrent requests, if not the usual one, and the file of requests, if they differ each time. */
export interface Manner {
  callers?: number;
  fill?: string;
}

/** Requests over HTTP/1.1; `sequences` may depend on the round. */
export function overHttp(
  { loader, sizes }: Bench,
  server: Server,
  sequences: (round: number) => string[][],
  manner: Manner = {},
): Row["measure"] {
  const { callers = sizes.connections, fill } = manner;
  const load = { port: server.port, connections: callers, ...(fill !== undefined && { fill }) };
  return ({ round, durationMs }) =>
    sampled(server, () => loader.http({ ...load, durationMs, sequences: sequences(round) }));
}

/** A call independent of the protocol: the method's path, the header's value, the message. */
export interface GrpcCall {
  path: string;
  authorization: string;
  message: Uint8Array;
}

/** Calls over gRPC, with as many concurrent calls as there are HTTP connections. */
export function overGrpc(
  { loader, sizes }: Bench,
  server: Server,
  call: GrpcCall,
  { callers = sizes.connections, fill }: Manner = {},
): Row["measure"] {
  const connections = Math.min(GRPC_CONNECTIONS, callers);
  const load = {
    port: server.port,
    path: call.path,
    authorization: call.authorization,
    message: Buffer.from(call.message).toString("base64"),
    connections,
    streams: Math.ceil(callers / connections),
    ...(fill !== undefined && { fill }),
  };
  return ({ durationMs }) => sampled(server, () => loader.grpc({ ...load, durationMs }));
}

type WithoutTime<T> = T extends unknown ? Omit<T, "durationMs"> : never;
export type AloneWork =
  | { script: "alone.ts"; input: WithoutTime<Alone> }
  | { script: "alone-postgres.ts"; input: WithoutTime<PostgresAlone> };

/**
 * The engine alone, in its own process on the servers' core. `helpersCpuUs`: as in `startMoorage`, of an engine that
 * has processes of its own.
 */
export function alone({ script, input }: AloneWork, helpersCpuUs: () => number | undefined = () => 0): Row["measure"] {
  return async ({ durationMs }) => {
    const before = helpersCpuUs();
    const { perSecond, cpuUs } = await ask<AloneResult>(
      SERVER_CORE,
      script,
      { ...input, durationMs },
      durationMs + ALONE_TIMEOUT_MS,
    );
    const after = helpersCpuUs();
    if (cpuUs === undefined || before === undefined || after === undefined || input.work === "commit")
      return { rate: perSecond };
    return { rate: perSecond, cpuUs: cpuUs + ((after - before) * 1000) / (perSecond * durationMs) };
  };
}
