// The throughput of undici in a process that only POSTs bodies of that length with so many headers. Reads Posts as JSON
// from standard input and prints an AloneResult.
import { Pool } from "undici";
import type { AloneResult } from "./alone.ts";
import { answer } from "./processes.ts";

export interface Posts {
  url: string;
  connections: number;
  bytes: number;
  headers: number;
  durationMs: number;
}

async function run({ url, connections, bytes, headers: count, durationMs }: Posts): Promise<AloneResult> {
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const headers = Object.fromEntries(Array.from({ length: count }, (_, number) => [`ce-${number}`, "a".repeat(50)]));
  const body = Buffer.alloc(bytes, "a");
  const began = performance.now();
  let posts = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() - began < durationMs) {
        const { statusCode, body: said } = await pool.request({ method: "POST", path, headers, body });
        await said.dump();
        if (statusCode !== 204) throw new Error(`the receiver answered ${statusCode}`);
        posts += 1;
      }
    }),
  );
  const elapsedMs = performance.now() - began;
  await pool.close();
  return { perSecond: (posts * 1_000) / elapsedMs };
}

if (import.meta.main) await answer<Posts>(run);
