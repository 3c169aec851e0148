import assert from "node:assert/strict";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { claimsOf } from "../src/claims.ts";
import { moorage, temporaryFolder } from "./commands.ts";
import { openQuick } from "./quick.ts";

test("whoami acts as every other command does: by the folder's key, by a token, and by nobody", async (t) => {
  const { url, env, run, ok } = await openQuick(t);
  const owner = claimsOf(env.MOORAGE_TOKEN)["sub"];
  const byFolder = await ok("whoami");
  assert.match(byFolder, new RegExp(`^server: ${url}\\nidentity: ${String(owner)}\\nsigned by: the key in .*data, `));
  assert.match(
    (await run(["whoami"], env)).stdout,
    new RegExp(`^server: ${url}\\nidentity: ${String(owner)}\\ntoken ends: `),
  );
  const cwd = temporaryFolder(t);
  const nobody = { XDG_CONFIG_HOME: join(cwd, "config") };
  const [whoami, list] = await Promise.all([
    moorage(["whoami"], { cwd, env: nobody }),
    moorage(["repos", "list"], { cwd, env: nobody }),
  ]);
  assert.equal(whoami.code, 4);
  assert.equal(whoami.stderr, list.stderr);

  // Anybody may ask whether a server answers.
  const ping = await moorage(["ping", "--url", url], { cwd, env: nobody });
  assert.deepEqual([ping.code, ping.stdout], [0, "response: pong\n"], ping.stderr);
});

test("a token that has ended is called expired, over REST and gRPC", async (t) => {
  const { env, ok, run } = await openQuick(t);
  const token = (await ok("token", "--ttl", "1s")).trim();
  const endMs = Number(claimsOf(token)["exp"]) * 1000;
  // The token's own clock decides, whatever this machine is busy with.
  while (Date.now() <= endMs) await new Promise((resolve) => setTimeout(resolve, 100));
  for (const args of [
    ["repos", "list"],
    ["pull-token", "list"],
    ["call", "ReposService/ListRepos"],
  ]) {
    const { code, stderr } = await run(args, { ...env, MOORAGE_TOKEN: token });
    assert.equal(code, 4, args.join(" "));
    assert.match(
      stderr,
      new RegExp(`^moorage: UNAUTHENTICATED: the access token expired at ${new Date(endMs).toISOString()}`),
    );
  }
  // What does not list anything says the same.
  for (const args of [["whoami"], ["ping"], ["api", "/iam/v2/groups"], ["sign-in-link"]]) {
    const { code, stdout, stderr } = await run(args, { ...env, MOORAGE_TOKEN: token });
    assert.equal(code, 4, args.join(" "));
    assert.match(stderr, /^moorage: (?:UNAUTHENTICATED: )?the access token expired at /, args.join(" "));
    if (args[0] === "whoami") assert.match(stdout, /^token ended: /m);
  }
  const pushed = await run(["sample", "--push", `${env.MOORAGE_URL}/acme/app:1`], { ...env, MOORAGE_TOKEN: token });
  assert.match(pushed.stderr, /the password is a token that expired at /);
});

test("a sign-in where nothing listens says that", async (t) => {
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as { port: number };
  closed.close();
  await once(closed, "close");
  const url = `http://127.0.0.1:${port}`;
  const { code, stderr } = await moorage(["login", "--url", url], { cwd: temporaryFolder(t) });
  assert.deepEqual([code, stderr], [7, `moorage: UNAVAILABLE: cannot reach ${url}: nothing listens there\n`]);
});
