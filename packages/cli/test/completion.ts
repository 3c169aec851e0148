// What tests of completion share: a server with names to complete, and the command as shells find it.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { LAUNCHER, moorage, temporaryFolder } from "./commands.ts";
import { serveHere } from "./server-here.ts";

/** A folder with the command in `bin`, and the environment in which completion has a server and a caller. */
export interface Place {
  readonly folder: string;
  readonly env: Record<string, string>;
}

// Tests run on machines that are busy: the server is waited for.
const PATIENT = { MOORAGE_COMPLETION_MS: "30000" };

/** A folder with `moorage` on its PATH, and folders of its own for settings and caches. */
export function placeFor(t: TestContext, env: Record<string, string> = {}): Place {
  const folder = temporaryFolder(t);
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "moorage"), `#!/bin/sh\nexec "${process.execPath}" "${LAUNCHER}" "$@"\n`, { mode: 0o755 });
  return {
    folder,
    env: {
      HOME: folder,
      PATH: `${bin}:${process.env["PATH"] ?? ""}`,
      XDG_CONFIG_HOME: join(folder, "config"),
      XDG_CACHE_HOME: join(folder, "cache"),
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? join(folder, "compiled"),
      ...PATIENT,
      ...env,
    },
  };
}

/**
 * A server with acme/team/app (tags 1.0 and 1.1), acme/api, the library acme/team:org.example:app (version 1.0) and the
 * group `acme/two words`, and a token of its owner in the environment.
 */
export async function placeWithServer(
  t: TestContext,
): Promise<Place & { url: string; token: string; stop(): Promise<void> }> {
  const place = placeFor(t);
  const cwd = place.folder;
  const server = await serveHere(t, cwd);
  const token = (await moorage(["token"], { cwd })).stdout.trim();
  const call = async (path: string, body: unknown): Promise<{ uid: string }> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(`${server.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    assert.equal(answer.status, 200, await answer.clone().text());
    return (await answer.json()) as { uid: string };
  };
  const headers = { authorization: `Bearer ${token}` };
  const groups = await fetch(`${server.url}/iam/v2/groups?name=acme`, { headers });
  const [acme] = ((await groups.json()) as { groups: { uid: string }[] }).groups;
  const team = await call(`/iam/v2/groups/${acme?.uid}`, { name: "team" });
  await call(`/iam/v2/groups/${acme?.uid}`, { name: "two words" });
  const app = await call(`/registry/v2/repos/${team.uid}`, { name: "app" });
  await call(`/registry/v2/repos/${acme?.uid}`, { name: "api" });
  await call(`/iam/v2/roles/${acme?.uid}`, { name: "deployer", capabilities: ["CAP_REPO_LIST"] });
  const host = new URL(server.url).host;
  const pushed = await moorage(["sample", "--push", `http://${host}/acme/team/app:1.0`, "--build", "1"], { cwd });
  assert.equal(pushed.code, 0, pushed.stderr);
  const digest = pushed.stdout.trim().split("@")[1];
  await call(`/registry/v2/tags/${app.uid}`, { name: "1.1", digest });
  const jar = `${server.url}/maven/acme/team/-/org/example/app/1.0/app-1.0.jar`;
  assert.equal((await fetch(jar, { method: "PUT", headers, body: "a jar" })).status, 201);
  return {
    ...place,
    env: { ...place.env, MOORAGE_URL: server.url, MOORAGE_TOKEN: token },
    url: server.url,
    token,
    stop: () => server.close(),
  };
}
