import assert from "node:assert/strict";
import { test } from "node:test";
import { moorage, temporaryFolder } from "./commands.ts";
import { serveHere } from "./server-here.ts";

test("lists of pulls and of exposures say what is not known, and what was pulled fits a terminal", async (t) => {
  const cwd = temporaryFolder(t);
  const { url } = await serveHere(t, cwd);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await moorage(args, { cwd, env: { MOORAGE_URL: url } });
    assert.equal(code, 0, stderr);
    return { stdout, stderr };
  };
  const exposed = await run("exposures", "list", "CVE-2021-44228");
  assert.equal(exposed.stdout, "");
  assert.match(exposed.stderr, /no exposures/);
  assert.match(exposed.stderr, /no feed is there that images are compared with: nothing is known/);
  assert.match(exposed.stderr, /pulls are counted since 20\d\d-/);

  const token = (await run("token", "--audience", "registry")).stdout.trim();
  const headers = { authorization: `Bearer ${token}` };
  const body = JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests: [] });
  const address = `${url}/v2/acme/app/manifests/v1`;
  const pushed = await fetch(address, { method: "PUT", headers: { ...headers, "content-type": INDEX }, body });
  assert.equal(pushed.status, 201, await pushed.text());
  assert.equal((await fetch(address, { headers })).status, 200);
  let pulled = await run("pulls", "list", "acme");
  for (let left = 600; left > 0 && pulled.stdout === ""; left -= 1) pulled = await run("pulls", "list", "acme");
  assert.match(pulled.stdout, /^NAME +DAY +TAG +DIGEST +BY +PULLS +BYTES\nacme\/app +20\d\d-\d\d-\d\d +1 +\d+B\n$/);
  assert.match(pulled.stderr, /pulls are counted since/);
  assert.ok(pulled.stdout.split("\n").every((line) => line.length <= 80));

  const nobody = "0".repeat(40);
  const downloaded = await run("downloads", "list", "acme", "--uids", `${nobody}/${"0".repeat(16)}`);
  assert.equal(downloaded.stdout, "");
  assert.match(downloaded.stderr, /downloads are counted since 20\d\d-/);
  assert.match(downloaded.stderr, /1 of those asked for left out: gone, or you may not list their downloads/);
});

const INDEX = "application/vnd.oci.image.index.v1+json";
