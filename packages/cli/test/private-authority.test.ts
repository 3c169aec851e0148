// Servers whose certificate no authority of the machine has signed: what commands say, and how they are to trust it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { trustAuthorities } from "../../kernel/src/lib/authorities.ts";
import { openBrowser } from "../../server/test/support/browser.ts";
import { selfSigned } from "../../server/test/support/certificate.ts";
import { eventually } from "../../server/test/support/eventually.ts";
import { CLIENT, openPeopleProvider } from "../../server/test/support/people-provider.ts";
import { startReceiver } from "../../server/test/support/receiver.ts";
import { freePort } from "../../server/test/support/unused-port.ts";
import { environment, helper, LAUNCHER, program, startServing, temporaryFolder } from "./commands.ts";

const HINT = /--ca-file <file>, or MOORAGE_CA_FILE/;

/** A server with a certificate of its own, which trusts that of a receiver; commands as processes of their own. */
async function open(t: TestContext) {
  const folder = temporaryFolder(t);
  const file = (name: string): string => join(folder, name);
  const [own, other] = [selfSigned(), selfSigned()];
  for (const [name, text] of [
    ["ca.pem", own.cert],
    ["key.pem", own.key],
    ["receiver.pem", `The receiver's.\n${other.cert}`],
    ["empty.pem", "nothing of that kind\n"],
  ] as const)
    writeFileSync(file(name), text);
  const url = `https://localhost:${await freePort()}`;
  const dataDir = file("server");
  const args = [LAUNCHER, "serve", "--port", new URL(url).port, "--data-dir", dataDir, "--base-url", url];
  const tls = ["--tls-cert", file("ca.pem"), "--tls-key", file("key.pem"), "--ca-file", file("receiver.pem")];
  await startServing(t, process.execPath, [...args, ...tls], { env: { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" } });
  const config = { XDG_CONFIG_HOME: file("config") };
  const run = (words: readonly string[], env: Record<string, string> = {}) =>
    program(words, { cwd: folder, env: { ...config, ...env } });
  const { stdout } = await run(["token", "--data-dir", dataDir, "--ca-file", file("ca.pem")]);
  const token = stdout.trim();
  return { folder, file, url, other, run, config, owner: { MOORAGE_URL: url, MOORAGE_TOKEN: token } };
}

test("the message of an unknown issuer names --ca-file, which every command takes, as a variable and stored", async (t) => {
  const { file, folder, url, other, run, config, owner } = await open(t);
  const caFile = ["--ca-file", file("ca.pem")];

  // Over REST and over gRPC.
  for (const words of [["groups", "list"], ["call", "GroupsService/ListGroups"], ["whoami"]]) {
    const { code, stderr } = await run(words, owner);
    // What a token says of itself needs no server.
    assert.equal(code, words[0] === "whoami" ? 0 : 7, words.join(" "));
    assert.match(stderr, /self-signed certificate/, words.join(" "));
    assert.match(stderr, HINT, words.join(" "));
    assert.equal((await run([...caFile, ...words], owner)).code, 0, words.join(" "));
  }
  assert.match((await run(["groups", "list"], { ...owner, MOORAGE_CA_FILE: file("ca.pem") })).stdout, /acme/);

  // A file that is of no use is an error, never passed over.
  const wrong = await run(["groups", "list", "--ca-file", file("empty.pem")], owner);
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /^moorage: --ca-file: .*empty\.pem holds no PEM certificate\n$/);
  assert.match(
    (await run(["groups", "list", "--ca-file", "none.pem"], owner)).stderr,
    /--ca-file: cannot read .*none\.pem/,
  );
  assert.match((await run(["ping"], { ...owner, MOORAGE_CA_FILE: "none.pem" })).stderr, /MOORAGE_CA_FILE: cannot read/);
  assert.match((await run(["ping", "--ca-file", file("receiver.pem")], owner)).stderr, HINT, "another authority");

  // Without any verification only with a warning, each time.
  const blind = await run(["groups", "list", "--insecure-skip-tls-verify"], owner);
  assert.equal(blind.code, 0, blind.stderr);
  assert.match(
    blind.stderr,
    /^moorage: warning: --insecure-skip-tls-verify: nobody's certificate is verified, [^\n]*\n$/,
  );

  // A context has it, too.
  assert.equal((await run(["config", "set", "home", `url=${url}`, `caFile=${file("ca.pem")}`])).code, 0);
  const { MOORAGE_TOKEN = "" } = owner;
  assert.equal((await run(["groups", "list", "--context", "home", "--token", MOORAGE_TOKEN])).code, 0);

  // The doctor, here and from elsewhere.
  const doctor = async (...more: string[]) => (await run(["doctor", "--url", url, ...more], owner)).stdout;
  assert.match(await doctor(), /FAILED +TLS: localhost:\d+: self-signed certificate[\s\S]*--ca-file/);
  assert.match(await doctor(...caFile), /WARNING +TLS: localhost:\d+: good until .*, for 0 days/);

  // The server trusts the receiver's certificate by the same setting.
  const receiver = await startReceiver(t, { tls: other });
  const stranger = await startReceiver(t, { tls: selfSigned() });
  trustAuthorities(file("ca.pem"));
  const api = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${MOORAGE_TOKEN}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    assert.ok(response.ok, `${method} ${path}: ${response.status}`);
    return (await response.json()) as T;
  };
  const { uid: organization } = JSON.parse(
    (await run(["groups", "get", "acme", ...caFile, "-o", "json"], owner)).stdout,
  ) as {
    uid: string;
  };
  for (const sink of [receiver.url, stranger.url]) {
    const { uid } = await api<{ uid: string }>("POST", `/events/v2/subscriptions/${organization}`, { sink });
    await api("POST", `/events/v2/subscriptions/${uid}:test`, {});
  }
  await eventually(() => receiver.events().length > 0);
  assert.equal(stranger.events().length, 0);

  // A sign-in stores the file: commands and the credential helper need no flag any longer.
  const people = await openPeopleProvider();
  t.after(() => people.close());
  const { uid: provider, redirectUri } = await api<{ uid: string; redirectUri: string }>(
    "POST",
    `/iam/v2/identityProviders/${organization}`,
    { name: "people", oidc: { issuer: people.url, clientId: CLIENT.id, clientSecret: CLIENT.secret } },
  );
  people.register(CLIENT.id, redirectUri);
  const login = spawn(
    process.execPath,
    [LAUNCHER, "login", "--url", url, "--identity-provider", provider, "--ca-file", "ca.pem"],
    { cwd: folder, env: environment(config), stdio: ["ignore", "pipe", "pipe"] },
  );
  t.after(() => login.kill("SIGKILL"));
  let said = "";
  for (const stream of [login.stdout, login.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  const ended = once(login, "exit");
  const address = await eventually(() => /^(https\S+\/oauth\/authorize\S+)$/m.exec(said)?.[1]);
  assert.equal((await openBrowser().signIn(address, "ada")).status, 200);
  assert.deepEqual(await ended, [0, null], said);
  const stored = JSON.parse(readFileSync(join(folder, "config", "moorage", "credentials.json"), "utf8")) as {
    servers: Record<string, { caFile?: string; expiresAtMs: number }>;
  };
  assert.equal(stored.servers[url]?.caFile, file("ca.pem"), "with its whole path");
  assert.equal((await run(["groups", "list", "--url", url])).code, 0);

  // The helper refreshes an expired token over TLS.
  const signIn = stored.servers[url];
  assert.ok(signIn);
  signIn.expiresAtMs = 0;
  writeFileSync(join(folder, "config", "moorage", "credentials.json"), JSON.stringify(stored), { mode: 0o600 });
  const given = await helper("get", new URL(url).host, config);
  assert.equal(given.code, 0, given.stdout);
  assert.match(given.stdout, /"Secret":"ey/);

  renameSync(file("ca.pem"), file("elsewhere.pem"));
  assert.equal((await run(["config", "unset", "home"])).code, 0);
  const gone = await run(["groups", "list", "--url", url]);
  assert.match(gone.stderr, /^moorage: the sign-in to https:\/\/localhost:\d+: cannot read .*ca\.pem/);
  assert.equal((await run(["logout", "--url", url, "--ca-file", file("elsewhere.pem")])).code, 0);
});
