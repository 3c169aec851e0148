// A server with images, for the tests of tasks: commands run in its folder, as its owner.
import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { moorage, type Outcome, temporaryFolder } from "./commands.ts";
import { serveHere } from "./server-here.ts";

/** The digests of `moorage sample --push`, by the number of the build. */
export const BUILD = {
  1: "sha256:06e46d29564dcbcfa8596c0bf0da332993725a6543d7d73f42d6ca92cb153829",
  2: "sha256:336471f3ce56e91ac90203eb39bf940fadaece44db896186ae5625fba60a45c4",
  3: "sha256:c68e612fbe2b6183364338e2bfa1749bba4f4e759d31e91da4f8076e113ebd81",
} as const;

/** The command for an enforced policy: pulls in `acme` need a signature of `acme/release`. */
export const ENFORCED_POLICY =
  "signature-policies create acme/signed --signer acme/release --on pull --mode enforce".split(" ");

/** A running server and its folder. */
export interface Stage {
  url: string;
  /** Ends the server. */
  close(): Promise<void>;
  /** The host[:port] in the names of its images. */
  host: string;
  folder: string;
  /** Runs a command in the server's folder, without contexts and sign-ins. */
  run(args: readonly string[], env?: Record<string, string>): Promise<Outcome>;
  /** Runs a command that must succeed; what it prints on standard output. */
  ok(...args: string[]): Promise<string>;
  /** Runs a command that must fail; its exit code and its one line. */
  fails(...args: string[]): Promise<[code: number, line: string]>;
  /** Runs a command that must succeed, and reads its JSON. */
  json<T>(...args: string[]): Promise<T>;
  /** Calls the API as the owner; the answer's JSON. */
  api<T extends object = { uid: string }>(method: string, path: string, body?: object): Promise<T>;
  /** Pushes one build of the sample image to `acme/app:1.0`. */
  push(image: string, build: keyof typeof BUILD): Promise<void>;
}

/** Starts a server, with further settings by their variables. */
export async function openStage(t: TestContext, settings: Record<string, string> = {}): Promise<Stage> {
  const folder = temporaryFolder(t);
  const { url, close } = await serveHere(t, folder, settings);
  const env = { XDG_CONFIG_HOME: join(folder, "config") };
  const run: Stage["run"] = (args, extra = {}) => moorage(args, { cwd: folder, env: { ...env, ...extra } });
  const ok: Stage["ok"] = async (...args) => {
    const { code, stdout, stderr } = await run(args);
    assert.equal(code, 0, `moorage ${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  const token = (await ok("token")).trim();
  return {
    url,
    close,
    host: new URL(url).host,
    folder,
    run,
    ok,
    async fails(...args) {
      const { code, stderr } = await run(args);
      const lines = stderr.trimEnd().split("\n");
      assert.equal(lines.length, 1, stderr);
      return [code, lines[0] ?? ""];
    },
    async json<T>(...args: string[]) {
      return JSON.parse(await ok(...args, "-o", "json")) as T;
    },
    async api<T extends object = { uid: string }>(method: string, path: string, body?: object) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      });
      assert.ok(response.ok, `${method} ${path}: ${response.status}`);
      return (await response.json()) as T;
    },
    async push(image, build) {
      await ok("sample", "--push", `${url}/${image}`, "--build", String(build));
    },
  };
}

/** The text with times in place of which `TIME` stands, and without blanks at the ends of lines. */
export function timeless(text: string): string {
  return text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME").replace(/[ \t\r]+$/gm, "");
}
