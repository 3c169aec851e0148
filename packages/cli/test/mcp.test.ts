// `moorage mcp`: a real child process, driven by the official client on its standard input and output.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { clientOf, type McpClient } from "../../server/test/support/mcp.ts";
import { environment, LAUNCHER, moorage, temporaryFolder } from "./commands.ts";
import { serveHere } from "./server-here.ts";

const INFO = { name: "moorage-test", version: "1.0.0" };

function envOf(extra: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment(extra)).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
}

/** A server with an image of two builds, and its data folder. */
async function serveImage(t: TestContext): Promise<{ cwd: string; url: string; digests: string[] }> {
  const cwd = temporaryFolder(t);
  const { url } = await serveHere(t, cwd);
  const digests: string[] = [];
  for (const build of ["1", "2"]) {
    const { code, stdout, stderr } = await moorage(
      ["sample", "--push", `${url}/acme/hello:v${build}`, "--build", build],
      {
        cwd,
      },
    );
    assert.equal(code, 0, stderr);
    digests.push(/sha256:[0-9a-f]{64}/.exec(stdout)?.[0] ?? "");
  }
  return { cwd, url, digests };
}

async function connect(
  t: TestContext,
  mode: "legacy" | "auto" | { pin: string },
  args: readonly string[],
  options: { cwd: string; env?: Record<string, string> },
): Promise<McpClient> {
  const client = new Client(INFO, { versionNegotiation: { mode } });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [LAUNCHER, "mcp", ...args],
    cwd: options.cwd,
    env: envOf(options.env),
    stderr: "pipe",
  });
  await client.connect(transport);
  t.after(() => client.close());
  return clientOf(client);
}

test("the official client calls the tools of a server in both versions, as the owner of the data folder", async (t) => {
  const { cwd, digests } = await serveImage(t);
  for (const mode of ["legacy", { pin: "2026-07-28" }, "auto"] as const) {
    const client = await connect(t, mode, [], { cwd });
    const tools = await client.tools();
    assert.ok(tools.some(({ name }) => name === "tag_history"));
    assert.equal(
      tools.some(({ name }) => name === "promote"),
      false,
      "reading only",
    );
    // More requests than are passed on concurrently.
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => client.call("tag_history", { image: `acme/hello:v${(at % 2) + 1}` })),
    );
    answers.forEach(({ answer, text }, at) => {
      const [move] = (answer["moves"] ?? []) as { digest: string }[];
      assert.equal(move?.digest, digests[at % 2], text);
    });
    const wrong = await client.call("tag_history", { image: "acme/nothing:v1" });
    assert.deepEqual([wrong.isError, /NOT_FOUND/.test(wrong.text)], [true, true], wrong.text);
  }
});

test("with --write tags are promoted, after a preview", async (t) => {
  const { cwd, digests } = await serveImage(t);
  const client = await connect(t, { pin: "2026-07-28" }, ["--write"], { cwd });
  const wish = { image: "acme/hello", promotions: [{ tag: "prod", from: "v2" }] };
  const { answer } = await client.call("promote", wish);
  assert.deepEqual(answer["moves"], [{ tag: "prod", before: "", after: digests[1] }]);
  const done = await client.call("promote", { ...wish, dry_run: false, preview: answer["preview"] });
  assert.equal(done.isError, false, done.text);
  const { answer: now } = await client.call("tag_history", { image: "acme/hello:prod" });
  assert.deepEqual(
    (now["moves"] as { digest: string; reason: string }[]).map(({ digest, reason }) => [digest, reason]),
    [[digests[1], "promote"]],
  );
});

test("without a server or a sign-in it ends, and says what to do", async (t) => {
  const cwd = temporaryFolder(t);
  const env = { XDG_CONFIG_HOME: cwd };
  const { code, stdout, stderr } = await moorage(["mcp", "--url", "https://moorage.example"], { cwd, env });
  assert.deepEqual([code, stdout], [4, ""]);
  assert.match(stderr, /not signed in to https:\/\/moorage\.example: moorage login/);
});

test("what is no message is answered with an error, and a server that is gone too; the end of input ends it", async (t) => {
  const cwd = temporaryFolder(t);
  const claims = Buffer.from(JSON.stringify({ exp: Math.floor(Date.now() / 1000) + 3600 })).toString("base64url");
  const child = spawn(process.execPath, [LAUNCHER, "mcp", "--url", "http://127.0.0.1:1"], {
    cwd,
    env: environment({ MOORAGE_TOKEN: `e30.${claims}.e30` }),
    stdio: ["pipe", "pipe", "ignore"],
  });
  t.after(() => child.kill("SIGKILL"));
  const ended = once(child, "exit");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answered = async (line: string): Promise<{ id: unknown; error: { code: number; message: string } }> => {
    child.stdin.write(`${line}\n`);
    return JSON.parse(String((await lines.next()).value)) as { id: unknown; error: { code: number; message: string } };
  };
  for (const line of ["nonsense", "[1]", "x".repeat(300_000)]) {
    const { id, error } = await answered(line);
    assert.deepEqual([id, error.code], [null, -32_700]);
  }
  const { id, error } = await answered('{"jsonrpc":"2.0","id":"a","method":"tools/list"}');
  assert.deepEqual([id, error.code], ["a", -32_000]);
  child.stdin.end();
  assert.deepEqual(await ended, [0, null]);
});

test("SIGINT ends it", async (t) => {
  const cwd = temporaryFolder(t);
  const claims = Buffer.from(JSON.stringify({ exp: Math.floor(Date.now() / 1000) + 3600 })).toString("base64url");
  const child = spawn(process.execPath, [LAUNCHER, "mcp", "--url", "http://127.0.0.1:1"], {
    cwd,
    env: environment({ MOORAGE_TOKEN: `e30.${claims}.e30` }),
    stdio: ["pipe", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  const ended = once(child, "exit");
  for await (const line of createInterface({ input: child.stderr })) if (line.includes("reading only")) break;
  child.kill("SIGINT");
  assert.deepEqual(await ended, [0, null]);
});
