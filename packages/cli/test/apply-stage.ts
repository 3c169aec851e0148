// A server and a way to it that counts what is sent, for the tests of `moorage apply`.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { environment, LAUNCHER, moorage, type Outcome, temporaryFolder } from "./commands.ts";
import { serveHere } from "./server-here.ts";

/** A request that reached the server. */
export interface Sent {
  method: string;
  url: string;
  body: string;
}

/** An answer of the API. */
export type Json = Record<string, unknown>;

/** A server with its owner's token. */
export interface Stage {
  folder: string;
  token: string;
  /** What was sent since it was last emptied. */
  sent: Sent[];
  /** Writes a file. */
  file(name: string, text: string): string;
  /** Runs `moorage` against the server. */
  run(args: readonly string[], env?: Record<string, string>): Promise<Outcome>;
  /**
   * The same, killed by SIGKILL when this many writes have been made: before the answer to the last of them is there.
   */
  killed(args: readonly string[], writes: number): Promise<void>;
  /** The owner's request, which must succeed. */
  ok(method: string, path: string, body?: unknown): Promise<Json>;
  /** The resources of a list. */
  all(path: string, field: string): Promise<Json[]>;
}

/** Whether a request is to change something. */
export function isWrite({ method, url }: Sent): boolean {
  return method !== "GET" && !url.includes("validateOnly=true");
}

/** Starts a server with the organization `acme`. */
export async function openStage(t: TestContext): Promise<Stage> {
  const folder = temporaryFolder(t);
  const house = join(folder, "house");
  mkdirSync(house);
  const env = { MOORAGE_ALLOW_PRIVATE_NETWORK: "true", MOORAGE_LOG_LEVEL: "info" };
  const { url } = await serveHere(t, house, env);
  const { stdout } = await moorage(["token"], { cwd: house });
  const token = stdout.trim();
  const sent: Sent[] = [];
  let onWrite: (() => void) | undefined;
  const proxy = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const one = { method: incoming.method ?? "", url: incoming.url ?? "", body: Buffer.concat(chunks).toString() };
      sent.push(one);
      const outgoing = request(
        `${url}${one.url}`,
        { method: one.method, headers: { ...incoming.headers, host: new URL(url).host } },
        (answer) => {
          if (isWrite(one)) onWrite?.();
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        },
      );
      outgoing.on("error", () => response.destroy());
      outgoing.end(one.body);
    });
    response.on("error", () => {});
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  t.after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const own = {
    MOORAGE_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    MOORAGE_TOKEN: token,
    XDG_CONFIG_HOME: folder,
  };
  const ok: Stage["ok"] = async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.equal(response.status, 200, `${method} ${path}: ${text}`);
    return (text === "" ? {} : JSON.parse(text)) as Json;
  };
  return {
    folder,
    token,
    sent,
    file(name, text) {
      writeFileSync(join(folder, name), text);
      return name;
    },
    run: (args, extra = {}) => moorage(args, { cwd: folder, env: { ...own, ...extra } }),
    async killed(args, writes) {
      const child = spawn(process.execPath, [LAUNCHER, ...args], {
        cwd: folder,
        env: environment(own),
        stdio: "ignore",
      });
      let left = writes;
      onWrite = () => {
        left -= 1;
        if (left === 0) child.kill("SIGKILL");
      };
      const [, signal] = (await once(child, "exit")) as [number | null, string | null];
      onWrite = undefined;
      assert.equal(signal, "SIGKILL", `it ends before ${writes} writes`);
    },
    ok,
    async all(path, field) {
      const found: Json[] = [];
      for (let pageToken = ""; ;) {
        const page = await ok("GET", `${path}${path.includes("?") ? "&" : "?"}pageSize=200&pageToken=${pageToken}`);
        found.push(...(page[field] as Json[]));
        pageToken = String(page["nextPageToken"] ?? "");
        if (pageToken === "") return found;
      }
    },
  };
}

/** Documents of YAML in one file. */
export function documents(all: readonly object[]): string {
  return all.map((one) => JSON.stringify(one)).join("\n---\n");
}
