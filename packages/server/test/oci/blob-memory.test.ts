import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { begin, folder, owner, REPO } from "../support/registry-endpoint-client.ts";

// How much memory the server's process takes at most while a blob goes up and comes down, in MiB, for a small one and
// one sixteen times as large.

const MIB = 1024 * 1024;
const PATIENCE_MS = 60_000;
// What the collector leaves lying about differs from run to run by some tens of MiB; a blob held in memory would be a
// good 200 more.
const SLACK_MIB = 96;

function peakMib(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** A body whose every MiB is another. */
function block(index: number): Buffer {
  const content = Buffer.alloc(MIB, "moorage ");
  content.writeUInt32LE(index);
  return content;
}

async function pushed(url: string, mib: number): Promise<string> {
  const hash = createHash("sha256");
  const put = request(url + (await begin({ url })), {
    method: "PATCH",
    headers: { authorization: owner, "content-length": mib * MIB },
    timeout: PATIENCE_MS,
  });
  const answered = once(put, "response") as Promise<[IncomingMessage]>;
  for (let index = 0; index < mib; index += 1) {
    hash.update(block(index));
    if (!put.write(block(index))) await once(put, "drain");
  }
  put.end();
  const [response] = await answered;
  assert.equal(response.resume().statusCode, 202);
  const digest = `sha256:${hash.digest("hex")}`;
  const end = await fetch(`${url}${response.headers.location}?digest=${digest}`, {
    method: "PUT",
    headers: { authorization: owner },
  });
  assert.equal(end.status, 201);
  return digest;
}

async function pulled(url: string, digest: string): Promise<string> {
  const response = await fetch(`${url}/v2/${REPO}/blobs/${digest}`, { headers: { authorization: owner } });
  assert.equal(response.status, 200);
  const hash = createHash("sha256");
  for await (const chunk of response.body ?? []) hash.update(chunk);
  return `sha256:${hash.digest("hex")}`;
}

test(
  "peak memory does not grow with the size of a blob",
  { skip: !existsSync("/proc/self/clear_refs") && "only Linux tells of it" },
  async () => {
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL("../support/registry-endpoint.ts", import.meta.url)), folder],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    try {
      const [line] = (await once(child.stdout, "data")) as [Buffer];
      const url = line.toString().trim();
      const pid = child.pid ?? 0;
      const peakOf = async (mib: number): Promise<number> => {
        // Makes the kernel measure the peak anew.
        writeFileSync(`/proc/${pid}/clear_refs`, "5");
        const digest = await pushed(url, mib);
        assert.equal(await pulled(url, digest), digest);
        return peakMib(pid);
      };
      await peakOf(16);
      const small = await peakOf(16);
      const large = await peakOf(256);
      assert.ok(large < small + SLACK_MIB, `${small.toFixed()} MiB at most for 16 MiB, ${large.toFixed()} for 256`);
    } finally {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  },
);
