import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openBrowser } from "../../server/test/support/browser.ts";
import { eventually } from "../../server/test/support/eventually.ts";
import { CLIENT, openPeopleProvider, type PeopleProvider } from "../../server/test/support/people-provider.ts";
import { environment, LAUNCHER, moorage, type Outcome, run, temporaryFolder } from "./commands.ts";
import { serveHere } from "./server-here.ts";

// Signing in on the command line through a real OpenID provider, with a browser on the same machine and on another one.

interface House {
  url: string;
  folder: string;
  people: PeopleProvider;
  provider: string;
  file: string;
  run(...args: string[]): Promise<Outcome>;
}
interface Signing {
  child: ChildProcess;
  output(): string;
  until(pattern: RegExp): Promise<string>;
  ended: Promise<number>;
}

async function open(t: TestContext): Promise<House> {
  const folder = temporaryFolder(t);
  const server = await serveHere(t, folder, {
    MOORAGE_DATA_DIR: join(folder, "server"),
    MOORAGE_ALLOW_PRIVATE_NETWORK: "1",
  });
  const people = await openPeopleProvider();
  t.after(() => people.close());
  people.claims = { email: "ada@example.com", email_verified: true, groups: ["builders"] };
  const { organization } = JSON.parse(readFileSync(join(folder, "server", "bootstrap.json"), "utf8")) as {
    organization: { uid: string };
  };
  const oidc = {
    issuer: people.url,
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    additionalScopes: ["email", "groups"],
    groupsClaim: "groups",
    pkceEnabled: true,
  };
  const roles = await moorage([
    "call",
    "--data-dir",
    join(folder, "server"),
    "RolesService/ListRoles",
    '{"name":"viewer"}',
  ]);
  const defaultRole = (JSON.parse(roles.stdout) as { roles: { uid: string }[] }).roles[0]?.uid;
  const request = JSON.stringify({ parent: organization.uid, identityProvider: { name: "people", defaultRole, oidc } });
  const made = await moorage([
    "call",
    "--data-dir",
    join(folder, "server"),
    "IdentityProvidersService/CreateIdentityProvider",
    request,
  ]);
  assert.equal(made.code, 0, made.stderr);
  const { uid: provider, redirectUri } = JSON.parse(made.stdout) as { uid: string; redirectUri: string };
  people.register(CLIENT.id, redirectUri);
  return {
    url: server.url,
    folder,
    people,
    provider,
    file: join(folder, "config", "moorage", "credentials.json"),
    run: (...args) => moorage(args, { cwd: folder, env: { XDG_CONFIG_HOME: join(folder, "config") } }),
  };
}

function begin(t: TestContext, house: House, ...extra: string[]): Signing {
  return beginWith(t, house, ["--url", `${house.url}/`, "--identity-provider", house.provider, ...extra]);
}

function beginWith(t: TestContext, house: House, flags: readonly string[]): Signing {
  return started(t, house, process.execPath, [LAUNCHER, "login", ...flags]);
}

function started(t: TestContext, { folder }: House, program: string, args: readonly string[]): Signing {
  const child = spawn(program, args, {
    cwd: folder,
    env: environment({ XDG_CONFIG_HOME: join(folder, "config") }),
    stdio: ["pipe", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const ended = once(child, "exit").then(([code]) => Number(code));
  return {
    child,
    output: () => output,
    ended,
    until: (pattern) => eventually(() => pattern.exec(output)?.[1], { instead: () => ({ pattern, output }) }),
  };
}

test("login with a browser on this machine, then calls, whoami, refresh and logout", async (t) => {
  const house = await open(t);
  const { run, url, file } = house;
  const nobody = await run("whoami");
  assert.equal(nobody.code, 4);
  assert.match(nobody.stderr, /^moorage: not signed in to any server, .*; moorage login --url <url>\n$/);

  const signing = begin(t, house);
  const address = await signing.until(/^(http\S+\/oauth\/authorize\S+)$/m);
  const callback = new URL(new URL(address).searchParams.get("redirect_uri") ?? "");
  assert.equal(
    (await fetch(`${callback}?state=guessed&code=x`)).status,
    404,
    "whoever does not know the state changes nothing",
  );
  const shown = await openBrowser().signIn(address, "ada");
  assert.deepEqual([shown.status, shown.text], [200, "Signed in. You may close this page.\n"]);
  assert.equal(await signing.ended, 0, signing.output());
  assert.equal(statSync(file).mode & 0o777, 0o600);

  const who = await run("whoami");
  assert.match(who.stdout, /^server: http:\/\/127\.0\.0\.1:\d+\nidentity: [0-9a-f]{40}\nidentity provider: \S+\n/);
  assert.match(
    who.stdout,
    /^e-mail at the provider: ada@example\.com\ngroups at the provider: builders \(their roles end at /m,
  );
  const groups = await run("call", "GroupsService/ListGroups");
  assert.match(groups.stdout, /"name": "acme"/, groups.stderr);

  // An expired token is replaced, by one process for all.
  const kept = JSON.parse(readFileSync(file, "utf8")) as {
    servers: Record<string, { expiresAtMs: number; refreshToken: string }>;
  };
  const login = kept.servers[url];
  assert.ok(login);
  const before = login.refreshToken;
  login.expiresAtMs = Date.now();
  writeFileSync(file, JSON.stringify(kept));
  const together = await Promise.all([
    run("whoami"),
    run("call", "--url", url, "GroupsService/ListGroups"),
    run("whoami"),
  ]);
  assert.deepEqual(
    together.map(({ code, stderr }) => [code, stderr]),
    [
      [0, ""],
      [0, ""],
      [0, ""],
    ],
  );
  const after = (JSON.parse(readFileSync(file, "utf8")) as typeof kept).servers[url]?.refreshToken ?? "";
  assert.notEqual(after, before);

  assert.equal((await run("logout")).stdout, `Signed out of ${url}\n`);
  const refused = await fetch(`${url}/sts/token`, {
    method: "POST",
    body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: after }),
  });
  assert.equal(refused.status, 400);
  assert.equal((await run("whoami", "--url", url)).code, 4);
  assert.equal((await run("logout", "--url", url)).code, 4);
});

test("login with a browser on another machine", async (t) => {
  const house = await open(t);
  const signing = begin(t, house, "--device");
  const code = await signing.until(/type the code (\S+)/);
  const browser = openBrowser();
  const proofOf = (text: string): string => /name="proof" value="(\w+)"/.exec(text)?.[1] ?? "";
  const page = await browser.open(`${house.url}/oauth/device`);
  const asked = await browser.post(page.url, { user_code: code, proof: proofOf(page.text) });
  const there = await browser.post(
    page.url,
    { user_code: code, proof: proofOf(asked.text), answer: "go" },
    house.people.url,
  );
  assert.match((await browser.signIn(there.location, "ada")).text, /You may close this page/);
  assert.equal(await signing.ended, 0, signing.output());
  assert.match((await house.run("whoami")).stdout, /^identity: [0-9a-f]{40}$/m);
});

test("a failure is reported in one line, and nothing is stored", async (t) => {
  const house = await open(t);
  const signing = begin(t, house);
  const browser = openBrowser();
  const login = await browser.open(await signing.until(/^(http\S+\/oauth\/authorize\S+)$/m));
  const abort = /href="([^"]+\/abort)"/.exec(login.text)?.[1] ?? "";
  assert.equal((await browser.open(new URL(abort, login.url).href)).status, 400);
  assert.equal(await signing.ended, 1);
  assert.match(signing.output(), /^moorage: the sign-in failed: the sign-in was declined at the identity provider$/m);
  const lines = await Promise.all([
    house.run("login", "--url", house.url),
    house.run("login", "--url", house.people.url, "--identity-provider", house.provider),
    house.run("login", "--url", `${house.url}/path`, "--identity-provider", house.provider),
    house.run("login", "--url", house.url, "--identity-provider", "f".repeat(40), "--device"),
  ]);
  assert.deepEqual(
    lines.map(({ code, stderr }) => [code, stderr.split("\n").length]),
    [2, 1, 2, 1].map((exit) => [exit, 2]),
  );
  assert.throws(() => statSync(house.file));
});

/** Adds another provider of the organization, and one of another organization. */
async function addProviders({ folder }: House): Promise<void> {
  const dataDir = join(folder, "server");
  const call = async (method: string, request: object): Promise<{ uid: string }> => {
    const { code, stdout, stderr } = await moorage(["call", "--data-dir", dataDir, method, JSON.stringify(request)]);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as { uid: string };
  };
  const { organization } = JSON.parse(readFileSync(join(dataDir, "bootstrap.json"), "utf8")) as {
    organization: { uid: string };
  };
  const other = await call("GroupsService/CreateGroup", { group: { name: "secretive" } });
  for (const [parent, name] of [
    [organization.uid, "partners"],
    [other.uid, "hidden"],
  ])
    await call("IdentityProvidersService/CreateIdentityProvider", {
      parent,
      identityProvider: { name, oidc: { issuer: "https://login.example.com", clientId: "moorage" } },
    });
}

test("the provider is named, and nothing has to be known by its uid", async (t) => {
  const house = await open(t);
  const { run, url, provider } = house;
  const nameless = await run("login", "--url", url);
  assert.match(nameless.stderr, /^moorage: --organization: is required for the first sign-in to a server/);
  const only = beginWith(t, house, ["--url", url, "--organization", "acme"]);
  assert.ok((await only.until(/^(http\S+\/oauth\/authorize\S+)$/m)).includes(encodeURIComponent(provider)));
  assert.match(only.output(), /^Signing in through people$/m);

  await addProviders(house);
  const named = beginWith(t, house, ["--url", url, "--organization", "acme", "--identity-provider", "people"]);
  assert.ok((await named.until(/^(http\S+\/oauth\/authorize\S+)$/m)).includes(encodeURIComponent(provider)));
  for (const [flags, exit, message] of [
    [["--organization", "acme"], 2, "--identity-provider: is required, one of partners, people"],
    [
      ["--organization", "acme", "--identity-provider", "staff"],
      2,
      "--identity-provider: acme has no staff, but partners, people",
    ],
    [["--organization", "nowhere"], 1, "nowhere has no identity provider at "],
  ] as [string[], number, string][]) {
    const { code, stdout, stderr } = await run("login", "--url", url, ...flags);
    assert.deepEqual([code, stdout], [exit, ""], stderr);
    assert.ok(stderr.startsWith(`moorage: ${message}`), stderr);
    assert.equal(stderr.trimEnd().split("\n").length, 1, stderr);
  }
});

test("`login` alone on a terminal asks for server and organization, lists its providers, and lets choose", async (t) => {
  if ((await run("script", ["--version"])).code !== 0) return t.skip("not on this machine: script");
  const house = await open(t);
  await addProviders(house);
  const command = `'${process.execPath}' '${LAUNCHER}' login`;
  const asking = started(t, house, "script", ["-qefc", command, "/dev/null"]);
  for (const [asked, typed] of [
    [/(URL of the server: )/, house.url],
    [/(Name of your organization \(or nothing, to choose in the browser\): )/, "acme"],
    [/(Which one \(1 to 2, or its name\)\? )/, "people"],
  ] as const) {
    await asking.until(asked);
    asking.child.stdin?.write(`${typed}\n`);
  }
  const address = await asking.until(/(http\S+\/oauth\/authorize\S+)\r?$/m);
  assert.match(asking.output(), /Sign in through\r?\n +1\. partners\r?\n +2\. people\r?\n/);
  assert.doesNotMatch(asking.output(), /hidden|secretive/);
  assert.equal((await openBrowser().signIn(address, "ada")).status, 200);
  assert.equal(await asking.ended, 0, asking.output());
  // The next time there is nothing to ask.
  const again = beginWith(t, house, []);
  assert.ok((await again.until(/^(http\S+\/oauth\/authorize\S+)$/m)).includes(encodeURIComponent(house.provider)));
});

test("who names no organization on the terminal chooses in the browser", async (t) => {
  if ((await run("script", ["--version"])).code !== 0) return t.skip("not on this machine: script");
  const house = await open(t);
  await addProviders(house);
  const command = `'${process.execPath}' '${LAUNCHER}' login --url ${house.url}`;
  const asking = started(t, house, "script", ["-qefc", command, "/dev/null"]);
  await asking.until(/(Name of your organization)/);
  asking.child.stdin?.write("\n");
  const address = await asking.until(/(http\S+\/oauth\/authorize\S+)\r?$/m);
  assert.equal(new URL(address).searchParams.has("identity_provider"), false);
  const browser = openBrowser();
  const asked = await browser.open(`${address}&organization=acme`);
  const [, link = ""] = /<a href="([^"]+)">people<\/a>/.exec(asked.text) ?? [];
  const chosen = new URL(
    link.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code))),
    asked.url,
  );
  assert.equal((await browser.signIn(chosen.href, "ada")).status, 200);
  assert.equal(await asking.ended, 0, asking.output());
  assert.match((await house.run("whoami")).stdout, /^identity: [0-9a-f]{40}$/m);
});
