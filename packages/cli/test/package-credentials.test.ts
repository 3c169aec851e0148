import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { zipOf } from "../../server/test/support/zip.ts";
import { moorage, type Outcome, run, temporaryFolder } from "./commands.ts";
import { type Installation, openInstallation, runWith } from "./keyless-server.ts";

// pip and npm themselves, with what `moorage auth` configured, against a server that gives packages only for a token
// that the registry accepts.

const KEYRING = fileURLToPath(new URL("../bin/moorage-keyring.js", import.meta.url));
const TIMEOUT_MS = 180_000;
const HOUR_MS = 3_600_000;
const WHEEL = zipOf([
  { name: "demo_pkg/__init__.py", content: "" },
  { name: "demo_pkg-1.0.dist-info/METADATA", content: "Metadata-Version: 2.1\nName: demo-pkg\nVersion: 1.0\n" },
  {
    name: "demo_pkg-1.0.dist-info/WHEEL",
    content: "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
  },
  { name: "demo_pkg-1.0.dist-info/RECORD", content: "" },
]);

/** An installation before which stand an index of Python packages and one of npm, for whoever has a token. */
interface Shop extends Installation {
  /** The Authorization headers of the requests for packages, in order. */
  seen: string[];
  /** What `moorage auth …` prints, in the test's own home. */
  auth(...args: string[]): Promise<Outcome>;
}

async function openShop(t: TestContext, tarball: Buffer = Buffer.alloc(0)): Promise<Shop> {
  const seen: string[] = [];
  const front = async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const { pathname, origin } = new URL(request.url ?? "/", `http://${request.headers.host ?? ""}`);
    if (!/^\/(?:pypi|npm)\//.test(pathname)) return false;
    const authorization = request.headers.authorization ?? "";
    seen.push(authorization);
    const basic = Buffer.from(/^Basic (.+)$/.exec(authorization)?.[1] ?? "", "base64").toString();
    const token = /^Bearer (.+)$/.exec(authorization)?.[1] ?? basic.slice(basic.indexOf(":") + 1);
    const asked = await fetch(`${origin}/v2/`, { headers: { authorization: `Bearer ${token}` } });
    if (asked.status !== 200) response.writeHead(401, { "www-authenticate": 'Basic realm="packages"' }).end();
    else give(pathname, origin, response);
    return true;
  };
  const give = (path: string, origin: string, response: ServerResponse): void => {
    const hash = (name: string, form: "base64" | "hex"): string => createHash(name).update(tarball).digest(form);
    switch (decodeURIComponent(path)) {
      case "/pypi/acme/simple/demo-pkg/":
        response
          .setHeader("content-type", "text/html")
          .end('<a href="/pypi/acme/files/demo_pkg-1.0-py3-none-any.whl">demo</a>');
        return;
      case "/pypi/acme/files/demo_pkg-1.0-py3-none-any.whl":
        response.end(WHEEL);
        return;
      case "/npm/acme/@acme/demo": {
        const dist = {
          tarball: `${origin}/npm/acme/@acme/demo/-/demo-1.0.0.tgz`,
          integrity: `sha512-${hash("sha512", "base64")}`,
          shasum: hash("sha1", "hex"),
        };
        const versions = { "1.0.0": { name: "@acme/demo", version: "1.0.0", dist } };
        response
          .setHeader("content-type", "application/json")
          .end(JSON.stringify({ name: "@acme/demo", "dist-tags": { latest: "1.0.0" }, versions }));
        return;
      }
      case "/npm/acme/@acme/demo/-/demo-1.0.0.tgz":
        response.end(tarball);
        return;
      default:
        response.writeHead(404).end();
    }
  };
  const installation = await openInstallation(t, front);
  const { env, folder } = installation;
  return {
    ...installation,
    seen,
    // npm scripts, of which this test may be one, say which .npmrc is meant.
    auth: (...args) =>
      moorage(["auth", ...args], {
        cwd: folder,
        env: { ...env, NPM_CONFIG_USERCONFIG: "", npm_config_userconfig: "", PIP_CONFIG_FILE: "" },
      }),
  };
}

/** Runs a program with these variables and the PATH alone: the machine's own settings of npm and pip have no part. */
function runAlone(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
): Promise<Outcome> {
  return new Promise((resolve) => {
    const settings = { cwd, env: { PATH: process.env.PATH, ...env }, timeout: TIMEOUT_MS };
    execFile(program, args, settings, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
  });
}

/** The Python that has pip; undefined when this machine has none. */
async function python(): Promise<string | undefined> {
  const { code, stdout } = await run("python3", ["-c", "import sys, pip; print(sys.executable)"]);
  return code === 0 ? stdout.trim() : undefined;
}

test("pip installs from the group's index, with a token that it gets when it needs one", async (t) => {
  const program = await python();
  if (program === undefined) return t.skip("not on this machine: python3 with pip");
  const shop = await openShop(t);
  await shop.signIn(0); // the access token is over: it is refreshed on the way
  const bin = join(shop.folder, "bin");
  const made = await shop.auth("configure-pip", "acme", "--keyring-dir", bin);
  assert.equal(made.code, 0, made.stderr);
  const file = join(shop.env["XDG_CONFIG_HOME"] ?? "", "pip", "pip.conf");
  const index = `http://__token__@${shop.host}/pypi/acme/simple/`;
  assert.equal(readFileSync(file, "utf8"), `[global]\nindex-url = ${index}\nkeyring-provider = subprocess\n`);
  assert.match(made.stderr, /export PATH=.*\/bin:\$PATH/);
  const env = { ...shop.env, PATH: `${bin}:${process.env.PATH ?? ""}` };
  const pip = ["-m", "pip", "--disable-pip-version-check", "--no-cache-dir", "download", "--no-deps", "demo-pkg"];
  const { code, stdout, stderr } = await runAlone(program, pip, shop.folder, env);
  assert.equal(code, 0, `${stdout}\n${stderr}`);
  assert.ok(existsSync(join(shop.folder, "demo_pkg-1.0-py3-none-any.whl")));
  assert.match(shop.seen.at(-1) ?? "", /^Basic /);
  // Not signed in: pip says that there is no password, and asks nobody, since nobody is there.
  writeFileSync(shop.credentials, JSON.stringify({ servers: {} }));
  const refused = await runAlone(program, [...pip, "--no-input"], shop.folder, env);
  assert.notEqual(refused.code, 0);

  assert.equal((await shop.auth("configure-pip", "acme", "--url", shop.url, "--remove")).code, 0);
  assert.equal(readFileSync(file, "utf8"), "[global]\n");
});

test("uv installs with the same program and the two settings of the documentation", async (t) => {
  const program = await python();
  if ((await run("uv", ["--version"])).code !== 0 || program === undefined)
    return t.skip("not on this machine: uv (pip install uv) and python3");
  const shop = await openShop(t);
  await shop.signIn(HOUR_MS);
  const bin = join(shop.folder, "bin");
  mkdirSync(bin);
  symlinkSync(KEYRING, join(bin, "keyring"));
  const target = join(shop.folder, "target");
  const uv = ["pip", "install", "--no-cache", "--no-deps", "--python", program, "--target", target, "demo-pkg"];
  const { code, stderr } = await runAlone("uv", uv, shop.folder, {
    ...shop.env,
    PATH: `${bin}:${process.env.PATH ?? ""}`,
    UV_KEYRING_PROVIDER: "subprocess",
    UV_DEFAULT_INDEX: `http://__token__@${shop.host}/pypi/acme/simple/`,
  });
  assert.equal(code, 0, stderr);
  assert.ok(existsSync(join(target, "demo_pkg", "__init__.py")));
});

test("the keyring program answers for URLs of the server alone; the rest goes to the next keyring", async (t) => {
  const shop = await openShop(t);
  await shop.signIn(HOUR_MS);
  const get = (service: string, env: Record<string, string> = {}): Promise<Outcome> =>
    runWith("moorage-keyring", ["get", service, "__token__"], "", { ...shop.env, ...env });
  const index = `${shop.url}/pypi/acme/simple/`;
  const { code, stdout } = await get(index);
  assert.equal(code, 0);
  const accepted = await fetch(`${shop.url}/v2/`, { headers: { authorization: `Bearer ${stdout.trim()}` } });
  assert.equal(accepted.status, 200);
  // It is for packages and images, and not for the platform API.
  const platform = await fetch(`${shop.url}/iam/v2/groups`, { headers: { authorization: `Bearer ${stdout.trim()}` } });
  assert.equal(platform.status, 401);
  const withUser = await runWith("moorage-keyring", ["--mode", "creds", "get", index], "", shop.env);
  assert.equal(withUser.stdout.split("\n")[0], "__token__");
  const json = await runWith("moorage-keyring", ["--mode=creds", "--output=json", "get", index], "", shop.env);
  assert.deepEqual(Object.keys(JSON.parse(json.stdout) as object), ["username", "password"]);
  const set = await runWith("moorage-keyring", ["set", index, "__token__"], "hidden\n", shop.env);
  assert.deepEqual([set.code, set.stderr], [0, "moorage-keyring: nothing is stored: the token is made when needed\n"]);

  const others = [
    index.replace("http:", "https:"),
    shop.host, // without a scheme it may be sent in the clear
    `http://127.0.0.1:1/pypi/acme/simple/`,
    `http://${shop.host}.evil.example/`,
    `http://${shop.host}@evil.example/`,
    "https://pypi.example.com/simple/",
    "not a URL",
  ];
  // Its own links are passed over, however many there are; the keyring behind them has its say.
  const [first, second, real] = ["first", "second", "real"].map((name) => join(shop.folder, name));
  for (const folder of [first, second, real]) mkdirSync(folder ?? "");
  for (const folder of [first, second]) symlinkSync(KEYRING, join(folder ?? "", "keyring"));
  writeFileSync(join(real ?? "", "keyring"), '#!/bin/sh\necho "real $*"\nexit 7\n');
  chmodSync(join(real ?? "", "keyring"), 0o755);
  const path = process.env.PATH ?? "";
  for (const service of others) {
    const alone = await get(service, { PATH: [first, second, path].join(":") });
    assert.deepEqual([alone.code, alone.stdout], [1, ""], service);
    const behind = await get(service, { PATH: [first, second, real, path].join(":") });
    assert.deepEqual([behind.code, behind.stdout], [7, `real get ${service} __token__\n`]);
  }
  const whole = await runWith("moorage-keyring", ["--list-backends"], "", { PATH: `${real}:${path}` });
  assert.deepEqual([whole.code, whole.stdout], [7, "real --list-backends\n"]);
  assert.equal((await runWith("moorage-keyring", [], "", { PATH: `${first}:${path}` })).code, 1);
});

test("a CI job's own token is traded for the registries that it names", async (t) => {
  const shop = await openShop(t);
  const env = {
    MOORAGE_REGISTRY_HOST: shop.host,
    MOORAGE_URL: shop.url,
    MOORAGE_IDENTITY: shop.identity,
    MOORAGE_ID_TOKEN: await shop.token(),
  };
  const get = (more: Record<string, string>): Promise<Outcome> =>
    runWith("moorage-keyring", ["get", `${shop.url}/pypi/acme/simple/`, "__token__"], "", { ...env, ...more });
  const { code, stdout } = await get({});
  assert.equal(code, 0);
  const accepted = await fetch(`${shop.url}/v2/`, { headers: { authorization: `Bearer ${stdout.trim()}` } });
  assert.equal(accepted.status, 200);
  const nobody = await get({ MOORAGE_IDENTITY: "" });
  assert.deepEqual([nobody.code, nobody.stdout], [1, ""]);
  assert.match(nobody.stderr, /^moorage-keyring: MOORAGE_IDENTITY must be the uid/);
  // https is its server when none is named: a token of it does not go out in the clear.
  assert.deepEqual(await get({ MOORAGE_URL: "" }), { code: 1, stdout: "", stderr: "" });
});

test("programs that need a token together refresh the sign-in once", async (t) => {
  const shop = await openShop(t);
  await shop.signIn(0);
  const index = `${shop.url}/pypi/acme/simple/`;
  const together = await Promise.all(
    Array.from({ length: 5 }, () => runWith("moorage-keyring", ["get", index, "__token__"], "", shop.env)),
  );
  assert.deepEqual(
    together.map(({ code, stderr }) => [code, stderr]),
    together.map(() => [0, ""]),
  );
  assert.equal(statSync(shop.credentials).mode & 0o777, 0o600);
  // A refresh token that had been used twice would have ended the sign-in.
  const kept = JSON.parse(readFileSync(shop.credentials, "utf8")) as {
    servers: Record<string, { expiresAtMs: number }>;
  };
  for (const login of Object.values(kept.servers)) login.expiresAtMs = 0;
  writeFileSync(shop.credentials, JSON.stringify(kept));
  assert.equal((await runWith("moorage-keyring", ["get", index, "__token__"], "", shop.env)).code, 0);

  chmodSync(shop.credentials, 0o644);
  const open = await runWith("moorage-keyring", ["get", index, "__token__"], "", shop.env);
  assert.deepEqual([open.code, open.stdout], [1, ""]);
  assert.match(open.stderr, /credentials\.json can be read by others of this machine.*chmod 600/);
});

test("npm installs from the group's registry, with the token of a variable or of its own file", async (t) => {
  if ((await run("npm", ["--version"])).code !== 0) return t.skip("not on this machine: npm");
  const shop = await openShop(t, await packedDemo(t));
  const file = join(shop.env["HOME"] ?? "", ".npmrc");
  writeFileSync(file, "; mine\nfund=false\n//other.example.com/:_authToken=theirs\n", { mode: 0o644 });
  await shop.signIn(HOUR_MS);
  const project = join(shop.folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "project", version: "1.0.0" }));
  const install = (env: Record<string, string> = {}): Promise<Outcome> =>
    runAlone("npm", ["install", "--no-audit", "--no-update-notifier", "@acme/demo", "--fetch-retries=0"], project, {
      ...shop.env,
      npm_config_cache: join(shop.folder, "cache"),
      ...env,
    });

  const made = await shop.auth("configure-npm", "acme", "--scope", "@acme");
  assert.equal(made.code, 0, made.stderr);
  const key = `//${shop.host}/npm/acme/:_authToken`;
  const before = "; mine\nfund=false\n//other.example.com/:_authToken=theirs\n";
  const lines = `@acme:registry=${shop.url}/npm/acme/\n${key}=\${MOORAGE_NPM_TOKEN}\n`;
  assert.equal(readFileSync(file, "utf8"), before + lines);
  assert.equal((await shop.auth("configure-npm", "acme", "--scope", "@acme")).stdout, `${file}: nothing to change\n`);
  const refused = await install();
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /E401/);
  const token = await moorage(["token", "--audience", "registry"], { cwd: project, env: shop.env });
  assert.equal(token.code, 0, token.stderr);
  const installed = await install({ MOORAGE_NPM_TOKEN: token.stdout.trim() });
  assert.equal(installed.code, 0, installed.stderr);
  assert.ok(existsSync(join(project, "node_modules", "@acme", "demo", "package.json")));
  assert.equal(shop.seen.at(-1), `Bearer ${token.stdout.trim()}`);

  // With a token in it the file is for its owner alone, and nothing of it is shown.
  const stored = await shop.auth("configure-npm", "acme", "--scope", "@acme", "--store-token");
  assert.equal(stored.code, 0, stored.stderr);
  assert.match(stored.stdout, /\n {2}\+ \/\/.*:_authToken=…\n {2}\+ for its owner alone: mode 0600\n$/);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const storedToken = (): string => readFileSync(file, "utf8").split(`${key}=`)[1]?.trim() ?? "";
  const one = storedToken();
  assert.ok(!stored.stdout.includes(one) && !stored.stderr.includes(one));
  assert.equal((await install()).code, 0);

  await shop.signIn(0);
  const dry = await shop.auth("refresh", "--dry-run");
  assert.deepEqual([dry.stdout, storedToken()], [`${file}\n  + ${key}=…\n`, one]);
  const refreshed = await shop.auth("refresh");
  assert.equal(refreshed.stdout, `${file}\n  + ${key}=…\n`);
  assert.notEqual(storedToken(), one);
  assert.ok(readFileSync(file, "utf8").includes("//other.example.com/:_authToken=theirs\n"));
  assert.equal((await install()).code, 0);

  const removed = await shop.auth("configure-npm", "acme", "--scope", "@acme", "--remove");
  assert.ok(!removed.stdout.includes(storedToken() || one));
  assert.equal(readFileSync(file, "utf8"), before);
  assert.equal((await shop.auth("refresh")).stdout, `${file}: nothing to change\n`);
});

/** The archive of a package @acme/demo, packed by npm. */
async function packedDemo(t: TestContext): Promise<Buffer> {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "@acme/demo", version: "1.0.0" }));
  const packed = await runAlone("npm", ["pack", "--silent"], folder, { HOME: folder });
  assert.equal(packed.code, 0, packed.stderr);
  return readFileSync(join(folder, packed.stdout.trim()));
}
