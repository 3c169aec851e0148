import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { HELPER, moorage, run } from "./commands.ts";
import { openInstallation } from "./keyless-server.ts";

test("docker reads a private image after moorage auth configure-docker, by the sign-in", async (t) => {
  if ((await run("docker", ["--version"])).code !== 0)
    return t.skip("not on this machine: docker (its client is enough)");
  const house = await openInstallation(t);
  await house.signIn(0); // it is over: the helper gets a new token
  const docker = join(house.folder, "docker");
  const bin = join(house.folder, "bin");
  mkdirSync(bin);
  symlinkSync(HELPER, join(bin, "docker-credential-moorage"));
  const env = { ...house.env, DOCKER_CONFIG: docker, PATH: `${bin}:${process.env.PATH ?? ""}` };
  // No daemon is needed for a manifest.
  const inspect = ["manifest", "inspect", "--insecure", `${house.host}/acme/app:1`];
  const before = await run("docker", inspect, { cwd: house.folder, env });
  assert.notEqual(before.code, 0);
  const made = await moorage(["auth", "configure-docker"], { cwd: house.folder, env });
  assert.deepEqual(
    [made.code, made.stdout, made.stderr],
    [0, `${join(docker, "config.json")}\n  + credHelpers: "${house.host}": "moorage"\n`, ""],
  );
  const after = await run("docker", inspect, { cwd: house.folder, env });
  assert.equal(after.code, 0, after.stderr);
  assert.equal((JSON.parse(after.stdout) as { schemaVersion: number }).schemaVersion, 2);
});
