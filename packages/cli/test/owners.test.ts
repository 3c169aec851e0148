import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { moorage, temporaryFolder } from "./commands.ts";
import { serveHere } from "./server-here.ts";

test("whoever is locked out becomes an owner on the server's machine, while the server runs", async (t) => {
  const cwd = temporaryFolder(t);
  const { url } = await serveHere(t, cwd);
  const { organization, identity } = JSON.parse(readFileSync(join(cwd, "data", "bootstrap.json"), "utf8")) as {
    organization: { uid: string; name: string };
    identity: { uid: string };
  };
  const run = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await moorage(args, { cwd });
    assert.equal(code, 0, stderr);
    return stdout.trimEnd();
  };
  const owner = await run("token");
  const ask = async (method: string, path: string, token: string, body?: object) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as Record<string, unknown> };
  };
  assert.equal(
    await run("owners", "grant", organization.name),
    `owner (${identity.uid}) was an owner of ${organization.name} before: nothing was changed
its tokens are made on this machine alone: moorage token --identity ${identity.uid}`,
  );

  // Another identity becomes an owner, and may immediately do what it was denied.
  const { body: made } = await ask("POST", `/iam/v2/identities/${organization.uid}`, owner, {
    name: "ci",
    claimMatch: { issuer: "https://ci.example.com", subject: "main" },
  });
  const uid = String(made["uid"]);
  const token = await run("token", "--identity", uid);
  const group = { name: "team" };
  assert.equal((await ask("POST", `/iam/v2/groups/${organization.uid}`, token, group)).status, 404);
  const granted = JSON.parse(await run("owners", "grant", organization.uid, "--identity", uid, "-o", "json")) as {
    binding: string;
    wayIn: string;
  };
  assert.equal(granted.wayIn, "own");
  assert.equal((await ask("POST", `/iam/v2/groups/${organization.uid}`, token, group)).status, 200);
  const { body: log } = await ask("GET", "/iam/v2/auditEntries?method=iam.grantOwner", owner);
  const [entry, ...others] = log["auditEntries"] as { details: object; act: object }[];
  assert.deepEqual(
    [entry?.details, entry?.act, others],
    [{ identity: uid, binding: granted.binding }, { actor: "system" }, []],
  );

  const missing = await moorage(["owners", "grant", "nobody's"], { cwd });
  assert.deepEqual([missing.code, missing.stderr], [1, "moorage: Group not found: nobody's\n"]);
  const unknown = await moorage(["owners", "grant", organization.name, "--identity", "ada@example.com"], { cwd });
  assert.deepEqual([unknown.code, unknown.stderr], [1, "moorage: Identity not found: ada@example.com\n"]);
});
