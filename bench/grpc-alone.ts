// node bench/grpc-alone.ts [--rounds 9] [--round-ms 1000]: unary gRPC by itself, Moorage's ping and GetRepo held against grpc-js' bare hello, the
// same calls from the same load on the same cores. Prints medians; the ratio is one of processor time per call, which others on the machine move
// least, but do move: it says most on a quiet one.
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { create, toBinary } from "@bufbuild/protobuf";
import { GetRepoRequestSchema, PingService, ReposService } from "@moorage/api";
import type { GrpcLoad } from "./grpc-load.ts";
import type { LoadResult } from "./load.ts";
import { ask, cpuUs, freePort, LOAD_CORE, SERVER_CORE, start, stop } from "./processes.ts";
import { send, startMoorage } from "./registries.ts";

/** A call to make: of which server, which method, with what. */
export interface GrpcTarget { pid: number | undefined; port: number; path: string; authorization: string; message: Uint8Array }
export interface GrpcSample { rate: number; cpuUs: number; loadShare: number; failure?: string }

const CONNECTIONS = 4;
const STREAMS = 16;
// Until the compiler has seen all of it: tens of thousands of calls.
const WARM_UP_MS = 6_000;
const SETUP_TIMEOUT_MS = 60_000;

/** One measurement: calls a second, and the server's processor time for each. */
export async function measureGrpc({ pid, port, path, authorization, message }: GrpcTarget, durationMs: number): Promise<GrpcSample> {
  const load: GrpcLoad = { port, path, authorization, durationMs, connections: CONNECTIONS, streams: STREAMS, message: Buffer.from(message).toString("base64") };
  const before = cpuUs(pid) ?? Number.NaN;
  const result = await ask<LoadResult>(LOAD_CORE, "grpc-load.ts", load, durationMs + SETUP_TIMEOUT_MS);
  const used = (cpuUs(pid) ?? Number.NaN) - before;
  return {
    rate: (result.answers * 1000) / result.elapsedMs, cpuUs: used / Math.max(1, result.answers), loadShare: result.loadShare,
    ...(result.failures > 0 && { failure: `${result.failures} failed: ${result.firstFailure}` }),
  };
}

/** grpc-js with nothing behind it, on the server's core. */
export async function startGrpcHello(): Promise<{ process: ReturnType<typeof start>; target: GrpcTarget }> {
  const port = await freePort();
  const child = start(SERVER_CORE, process.execPath, [fileURLToPath(new URL("grpc-hello.ts", import.meta.url)), String(port)]);
  const deadline = Date.now() + SETUP_TIMEOUT_MS;
  while (!(await accepts(port))) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error("the grpc-js server does not start");
    await new Promise((resolve) => { setTimeout(resolve, 25); });
  }
  return { process: child, target: { pid: child.pid, port, path: "/bench.Hello/Say", authorization: "", message: Buffer.from("hi") } };
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect({ port, host: "127.0.0.1" });
  return once(socket, "connect").then(() => true, () => false).finally(() => socket.destroy());
}

function median(values: number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}

async function main(rounds: number, roundMs: number): Promise<void> {
  const build = fileURLToPath(new URL("../build/", import.meta.url));
  mkdirSync(build, { recursive: true });
  const scratch = mkdtempSync(join(build, "grpc-"));
  const children: ReturnType<typeof start>[] = [];
  try {
    const hello = await startGrpcHello();
    children.push(hello.process);
    const moorage = await startMoorage(join(scratch, "data"));
    children.push(moorage.process);
    const authorization = moorage.platformAuthorization.slice("authorization: ".length).trim();
    const made = await send({ ...moorage, authorization: moorage.platformAuthorization }, "POST", `/registry/v2/repos/${moorage.organization.uid}`, { type: "application/json", content: Buffer.from('{"name":"bench"}') });
    const { uid } = await made.json() as { uid: string };
    const ours = { pid: moorage.process.pid, port: moorage.port, authorization };
    const targets: [string, GrpcTarget][] = [
      ["grpc-js hello", hello.target],
      ["ping", { ...ours, path: `/${PingService.typeName}/Ping`, message: new Uint8Array() }],
      ["get a repo", { ...ours, path: `/${ReposService.typeName}/GetRepo`, message: toBinary(GetRepoRequestSchema, create(GetRepoRequestSchema, { uid })) }],
    ];
    const samples = new Map<string, GrpcSample[]>(targets.map(([title]) => [title, []]));
    for (let round = 0; round <= rounds; round += 1) {
      for (const [title, target] of targets) {
        const sample = await measureGrpc(target, round === 0 ? WARM_UP_MS : roundMs);
        if (sample.failure !== undefined) throw new Error(`${title}: ${sample.failure}`);
        if (round > 0) samples.get(title)?.push(sample);
      }
    }
    const base = median(samples.get("grpc-js hello")?.map((sample) => sample.cpuUs) ?? []);
    for (const [title, all] of samples) {
      const us = median(all.map((sample) => sample.cpuUs));
      const shares = median(all.map((sample) => sample.loadShare));
      console.log(`${title.padEnd(16)} ${Math.round(median(all.map((sample) => sample.rate)))}/s  ${us.toFixed(1)} us  ratio ${(base / us).toFixed(2)}  load at ${(shares * 100).toFixed(0)}%`);
    }
  } finally {
    await Promise.all(children.map(stop));
    rmSync(scratch, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { rounds: { type: "string", default: "9" }, "round-ms": { type: "string", default: "1000" } } });
  await main(Number(values.rounds), Number(values["round-ms"]));
}
