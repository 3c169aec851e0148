import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { loadConfig, readBootstrap, signToken } from "../../src/index.ts";
import { eventually } from "./eventually.ts";
import { type LogLine, type ServerProcess, startProcess } from "./processes.ts";

/** An answer, as far as tests of faults look at it. */
export interface Answer {
  status: number;
  text: string;
  retryAfter: string | null;
}

/** An embedded server in a process of its own, and tokens of its owner. */
export interface DiskServer extends ServerProcess {
  dataDir: string;
  ask(method: string, path: string, body?: string | Buffer, headers?: Record<string, string>): Promise<Answer>;
  /** Creates a group below the first organization. */
  write(name: string): Promise<Answer>;
  /** Pushes a blob in one request. */
  push(bytes: Buffer): Promise<Answer>;
  pull(bytes: Buffer): Promise<Answer>;
  /** The path of a pull, and its Authorization header as a line. */
  pullHead(bytes: Buffer): { path: string; headers: string };
  /** As pullHead, of a push in one request. */
  pushHead(bytes: Buffer): { path: string; headers: string };
  /** The uid of the first organization. */
  organization: string;
  /** Waits until the answer to the question is as wanted. */
  until(question: () => Promise<Answer>, isWanted: (answer: Answer) => boolean): Promise<Answer>;
  /** Waits until the log has such a line. */
  logged(isWanted: (line: LogLine) => boolean): Promise<void>;
  ready(): Promise<Answer>;
  healthy(): Promise<Answer>;
  /** The value of a metric, with its labels in the text's form; undefined when it is not there. */
  metric(name: string): Promise<number | undefined>;
}

const REPOSITORY = "acme/app";

/** A new folder for data, which is removed after the test. */
export function newDataDir(t: TestContext): string {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-disk-"));
  t.after(() => rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 }));
  return dataDir;
}

/**
 * Starts it on the folder. `shell`: a command of sh that runs before, in the same process, such as `ulimit -n 100`.
 * `program`: that of another version.
 */
export async function startDiskServer(
  t: TestContext,
  dataDir: string,
  env: Record<string, string> = {},
  shell?: string,
  program?: string,
): Promise<DiskServer> {
  const settings = { MOORAGE_DATA_DIR: dataDir, MOORAGE_DATABASE_URL: "", MOORAGE_DISK_RESERVE: "0", ...env };
  const server = await startProcess(t, settings, shell, program);
  const config = loadConfig({ ...settings, MOORAGE_BASE_URL: server.url });
  const { token: platform } = await signToken({ config, audience: "platform", ttlMs: 3_600_000 });
  const { token: registry } = await signToken({ config, audience: "registry", ttlMs: 3_600_000 });
  const { organization } = readBootstrap(dataDir);
  const ask: DiskServer["ask"] = async (method, path, body, headers = {}) => {
    const answer = await fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${path.startsWith("/v2/") ? registry : platform}`, ...headers },
      ...(body !== undefined && { body: new Uint8Array(Buffer.from(body)) }),
    });
    return { status: answer.status, text: await answer.text(), retryAfter: answer.headers.get("retry-after") };
  };
  const digestOf = (bytes: Buffer): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  return {
    ...server,
    dataDir,
    ask,
    write: (name) =>
      ask("POST", `/iam/v2/groups/${organization.uid}`, JSON.stringify({ name }), {
        "content-type": "application/json",
      }),
    push: (bytes) =>
      ask("POST", `/v2/${REPOSITORY}/blobs/uploads/?digest=${digestOf(bytes)}`, bytes, {
        "content-type": "application/octet-stream",
      }),
    pull: (bytes) => ask("GET", `/v2/${REPOSITORY}/blobs/${digestOf(bytes)}`),
    pullHead: (bytes) => ({
      path: `/v2/${REPOSITORY}/blobs/${digestOf(bytes)}`,
      headers: `authorization: Bearer ${registry}\r\n`,
    }),
    pushHead: (bytes) => ({
      path: `/v2/${REPOSITORY}/blobs/uploads/?digest=${digestOf(bytes)}`,
      headers: `authorization: Bearer ${registry}\r\ncontent-type: application/octet-stream\r\n`,
    }),
    organization: organization.uid,
    async until(question, isWanted) {
      let last: Answer | undefined;
      return await eventually(
        async () => {
          last = await question();
          return isWanted(last) && last;
        },
        { instead: () => `${last?.status}: ${last?.text.slice(0, 500)}` },
      );
    },
    async logged(isWanted) {
      await eventually(() => server.lines.some(isWanted), {
        instead: () => server.lines.map(({ msg }) => msg).join(", "),
      });
    },
    ready: () => ask("GET", "/readyz"),
    healthy: () => ask("GET", "/healthz"),
    async metric(name) {
      const { text } = await ask("GET", "/metrics");
      const line = text.split("\n").find((each) => each.startsWith(`${name} `));
      return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(" ") + 1));
    },
  };
}
