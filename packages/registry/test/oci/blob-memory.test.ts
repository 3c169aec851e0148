import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { begin, folder, owner, REPO } from "../../../server/test/support/registry-endpoint-client.ts";

// The peak memory of the server process while a blob is pushed and pulled, in MiB: for a small blob, and for one
// sixteen times as large.

const MIB = 1024 * 1024;
const TIMEOUT_MS = 60_000;
// The garbage that is not yet collected differs between runs by some tens of MiB; a blob held in memory would add more
// than 200.
const SLACK_MIB = 96;

function peakMib(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** One MiB of a body, different for each index. */
function block(index: number): Buffer {
  const content = Buffer.alloc(MIB, "moorage ");
  content.writeUInt32LE(index);
  return content;
}

async function pushBlob(url: string, mib: number): Promise<string> {
  const hash = createHash("sha256");
  const put = request(url + (await begin({ url })), {
    method: "PATCH",
    headers: { authorization: owner, "content-length": mib * MIB },
    timeout: TIMEOUT_MS,
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

async function pullBlob(url: string, digest: string): Promise<string> {
  const response = await fetch(`${url}/v2/${REPO}/blobs/${digest}`, { headers: { authorization: owner } });
  assert.equal(response.status, 200);
  const hash = createHash("sha256");
  for await (const chunk of response.body ?? []) hash.update(chunk);
  return `sha256:${hash.digest("hex")}`;
}

test(
  "peak memory does not grow with the size of a blob",
  { skip: !existsSync("/proc/self/clear_refs") && "only Linux reports it" },
  async () => {
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL("../../../server/test/support/registry-endpoint.ts", import.meta.url)), folder],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    try {
      const [line] = (await once(child.stdout, "data")) as [Buffer];
      const url = line.toString().trim();
      const pid = child.pid ?? 0;
      const peakOf = async (mib: number): Promise<number> => {
        // Resets the peak that the kernel reports.
        writeFileSync(`/proc/${pid}/clear_refs`, "5");
        const digest = await pushBlob(url, mib);
        assert.equal(await pullBlob(url, digest), digest);
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
