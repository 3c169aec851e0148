import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { moorage, program, temporaryFolder } from "./commands.ts";

/** A server that refuses connections. */
const DEAD = { MOORAGE_URL: "http://127.0.0.1:1", MOORAGE_TOKEN: "t" };

test("a command prints and ends in a host as in a process of its own, one after the other", async (t) => {
  const [first, second] = [temporaryFolder(t), temporaryFolder(t)];
  const at = (cwd: string, env = {}): { cwd: string; env: Record<string, string> } => ({
    cwd,
    env: { XDG_CONFIG_HOME: join(cwd, "config"), ...env },
  });
  for (const [args, options] of [
    [["--version"], at(first)],
    [["config", "path"], at(first)],
    [["config", "path"], at(second)],
    [["config", "set", "prod", "url=https://registry.example"], at(first)],
    [["config", "list"], at(first)],
    [["config", "list"], at(second)],
    [["repos", "list", "--timeout", "1s", "--debug"], at(first, DEAD)],
    [["repos", "list", "--timeout", "1s"], at(first, DEAD)],
    [["no-such-command"], at(first)],
    [["gc", "--grace", "soon"], at(first)],
    [["gc"], at(first)],
    [["__complete", "fish", "--", "comple"], at(first)],
    [["help", "repos", "create"], at(first)],
  ] as const)
    assert.deepEqual(await moorage(args, options), await program(args, options), args.join(" "));
});

test("commands that run side by side do not wait for each other", async (t) => {
  const waiting: ServerResponse[] = [];
  const server = createServer((_, response) => {
    waiting.push(response);
    if (waiting.length === 3) for (const each of waiting) each.writeHead(403).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => server.close());
  const env = { MOORAGE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, MOORAGE_TOKEN: "t" };
  const outcomes = await Promise.all([1, 2, 3].map(() => moorage(["repos", "list"], { env })));
  assert.deepEqual(new Set(outcomes.map(({ code }) => code)), new Set([5]));
});
