import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { createLog } from "../../../kernel/src/observe/index.ts";
import { startInstallation, temporaryFolder } from "../support/installation.ts";

// What the log contains, and what it never contains.

const CLI = fileURLToPath(new URL("../../../cli/src/main.ts", import.meta.url));

/** The lines that `moorage serve` prints until it has shut down. `work` gets its URL. */
async function printed(t: TestContext, flags: string[], work: (url: string) => Promise<void>): Promise<string> {
  const child = spawn(process.execPath, [CLI, "serve", "--port", "0", "--data-dir", temporaryFolder(t), ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  let text = "";
  const url = new Promise<string>(
    (resolve) =>
      void child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        const found = /(?:"url":"|listening url=)(http:[^"\s]+)/.exec(text)?.[1];
        if (found !== undefined) resolve(found);
      }),
  );
  await work(await url);
  child.kill("SIGTERM");
  await once(child, "close");
  return text;
}

test("the log has one JSON object a line, or text, by setting", async (t) => {
  const ping = async (url: string): Promise<void> => void (await (await fetch(`${url}/ping/v2/ping`)).text());
  const json = (await printed(t, [], ping))
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const request = json.find(({ msg }) => msg === "request");
  assert.deepEqual(
    [request?.["rpc"], request?.["status"], typeof request?.["durationMs"]],
    ["moorage.ping.v2.PingService.Ping", 200, "number"],
  );
  const text = await printed(t, ["--log-format", "text"], ping);
  assert.match(text, /^\d{4}-\d\d-\d\dT[\d:.]+Z INFO {2}request .*path=\/ping\/v2\/ping .*status=200/m);
  assert.doesNotMatch(text, /\p{Cc}\[|^\{/mu);
});

test("tokens, passwords and query strings are not in the log", async (t) => {
  const { ask, lines, platform, registry, pushImage, grantsOf } = await startInstallation(t);
  await pushImage("acme/app", "v1", "one");
  await grantsOf(["repository:acme/app:pull"], `user:${platform}`);
  await ask("GET", "/iam/v2/groups?page_size=7&uidp=hidden-query", { token: platform });
  await ask("GET", "/iam/v2/groups", { token: `${platform}x` });
  await ask("POST", "/sts/exchange?aud=x", { token: "hidden-token" });
  await ask("GET", "/token?scope=repository:acme/app:pull", { basic: "user:hidden-password" });
  assert.ok(lines.length > 5);
  for (const secret of [
    platform,
    registry,
    platform.slice(-20),
    "hidden-query",
    "hidden-token",
    "hidden-password",
    Buffer.from("user:hidden-password").toString("base64"),
  ]) {
    assert.ok(!lines.some((line) => line.includes(secret)), secret);
  }
});

test("nobody without a token makes the log say that something is wrong", async (t) => {
  const { config, lines } = await startInstallation(t);
  const post = async (path: string, type: string, headers: Record<string, string> = {}): Promise<number> =>
    (
      await fetch(`${config.baseUrl}${path}`, {
        method: "POST",
        headers: { "content-type": type, ...headers },
        body: "{}",
      })
    ).status;
  const unknown = "/moorage.iam.v2.GroupsService/Nope";
  const seen = [
    await post(unknown, "application/json"),
    await post(unknown, "application/grpc-web"),
    await post("/no.such.Service/Nope", "application/proto"),
    await post("/grpc.health.v1.Health/Nope", "application/json"),
    await post("/moorage.ping.v2.PingService/Ping", "application/json", { "connect-timeout-ms": "0" }),
    await post("/iam/v2/nothing", "application/json"),
    await post("/v2/", "application/json"),
    await post("/mcp", "application/json"),
    (await fetch(`${config.baseUrl}/v2/acme/app/blobs/sha256:zz`, { headers: { range: `bytes=${" ".repeat(9_000)}` } }))
      .status,
    (await fetch(`${config.baseUrl}/iam/v2/groups?order_by=${"_".repeat(9_000)}`)).status,
    (await fetch(`${config.baseUrl}/npm/acme/%00`)).status,
    (await fetch(`${config.baseUrl}/%zz`)).status,
  ];
  assert.ok(seen.includes(501), "an unknown method of Connect");
  const last = (): boolean => lines.some((line) => line.includes('"path":"/%zz"'));
  for (let attempt = 0; attempt < 500 && !last(); attempt += 1) await fetch(`${config.baseUrl}/ping/v2/ping`);
  assert.ok(last());
  const bad = lines.filter((line) => (JSON.parse(line) as { level: number }).level > 30);
  assert.deepEqual(bad, []);
});

test("an error whose message has a secret is logged without it", () => {
  const lines: string[] = [];
  const log = createLog(
    { logLevel: "info", logFormat: "json" },
    { isTTY: false, write: (line: string | Uint8Array) => lines.push(String(line)) > 0 },
  );
  log.error(
    { err: Object.assign(new Error("connect postgres://moorage:hunter2@db/moorage"), { password: "hunter2" }) },
    "failed",
  );
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /connect postgres:\/\/moorage:\*\*\*@db\/moorage/);
  assert.doesNotMatch(lines[0] ?? "", /hunter2/);
});
