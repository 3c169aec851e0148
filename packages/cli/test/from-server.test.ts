// A developer who gets the command from the server: with curl and Node, or with npm, and with nothing of this clone.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { LAUNCHER, type Outcome, program, run, startServing, temporaryFolder } from "./commands.ts";

const MAKE = fileURLToPath(new URL("../../../scripts/command-files.ts", import.meta.url));
/** What a machine has: Node, and the programs of the system. */
const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`;
const LEAST_NODE_MAJOR = 22;

before(async () => {
  const made = await run(process.execPath, [MAKE, "--if-stale"]);
  assert.equal(made.code, 0, made.stderr);
});

type Shell = (line: string, env?: Record<string, string>) => Promise<Outcome>;
/** The server, and a token of its owner. */
interface Source {
  readonly url: string;
  readonly token: string;
}

/** A machine that has nothing of the server: its home, and a shell in it. */
function machine(t: TestContext, { url }: Source): { home: string; shell: Shell } {
  const home = temporaryFolder(t);
  const [config, cache] = [join(home, ".config"), join(home, ".cache")];
  const own = { HOME: home, XDG_CONFIG_HOME: config, XDG_CACHE_HOME: cache, npm_config_cache: join(cache, "npm") };
  return {
    home,
    shell: (line, env = {}) =>
      run("bash", ["--norc", "-euc", line], { cwd: home, env: { ...own, PATH, URL: url, ...env } }),
  };
}

test("the command from the server", async (t) => {
  const data = temporaryFolder(t);
  const { url } = await startServing(t, process.execPath, [LAUNCHER, "serve", "--port", "0"], { cwd: data });
  const token = (await program(["token"], { cwd: data })).stdout.trim();
  for (const [name, walk] of Object.entries(WALKS)) await t.test(name, (part) => walk(part, { url, token }));
});

const WALKS: Readonly<Record<string, (t: TestContext, source: Source) => Promise<void>>> = {
  "a developer gets the command from the server by the lines of its page, and works with it": async (t, source) => {
    const { url, token } = source;
    const { home, shell } = machine(t, source);
    const page = await (await fetch(`${url}/cli`)).text();
    const lines = [...page.matchAll(/<pre>([^<]*)<\/pre>/g)].map(([, text = ""]) => text.replaceAll("&#38;", "&"));
    const [curl = ""] = lines.find((text) => text.startsWith("curl -fsSLo moorage "))?.split("\n") ?? [];
    assert.equal(curl, `curl -fsSLo moorage ${url}/cli/moorage && chmod +x moorage`);
    const got = await shell(`${curl}\ncurl -fsSL $URL/cli/moorage.sha256 | sha256sum --check\n./moorage --version`);
    const version = (await shell("curl -fsSL $URL/cli/moorage.version")).stdout;
    assert.deepEqual(got, { code: 0, stdout: `moorage: OK\n${version}`, stderr: "" });

    const signedIn = { MOORAGE_URL: url, MOORAGE_TOKEN: token };
    const pushed = await shell("./moorage sample --push $URL/acme/hello:latest && ./moorage repos list acme", signedIn);
    assert.equal(pushed.code, 0, pushed.stderr);
    assert.match(pushed.stdout, /hello@sha256:[^]*\bhello\b/);
    const filtered = await shell("./moorage repos list acme --output json --jq '.repos[].name'", signedIn);
    assert.deepEqual([filtered.code, filtered.stdout.replaceAll('"', "")], [0, "hello\n"], filtered.stderr);
    assert.match((await shell("./moorage completion bash")).stdout, /^# Completion of moorage for bash/);

    const serve = await shell("./moorage serve");
    assert.equal(serve.code, 2);
    assert.match(serve.stderr, /^moorage: this command is for the machine of a server, .*\n$/);

    // Node takes a file without an ending for a module below such a manifest.
    writeFileSync(join(home, "package.json"), JSON.stringify({ type: "module" }));
    assert.equal((await shell("./moorage --version")).stdout, version);
  },

  "the credential helper comes from the server too, and docker is set to use it": async (t, source) => {
    const { url } = source;
    const { shell } = machine(t, source);
    const got = await shell(
      `for name in moorage docker-credential-moorage; do
      curl -fsSLO $URL/cli/$name; curl -fsSL $URL/cli/$name.sha256 | sha256sum --check --quiet; chmod +x $name
    done
    PATH=$PWD:$PATH
    docker-credential-moorage version
    DOCKER_CONFIG=$PWD moorage auth configure-docker ${new URL(url).host}
    grep moorage config.json`,
    );
    assert.equal(got.code, 0, got.stderr);
    assert.match(got.stdout, /^docker-credential-moorage \(moorage\) v[\d.]+\n/);
    assert.ok(got.stdout.includes(`"${new URL(url).host}": "moorage"`), got.stdout);
    assert.doesNotMatch(got.stderr, /finds no docker-credential-moorage/);
  },

  "the one file is all programs of the package, by the name that it is called by": async (t, source) => {
    const { home, shell } = machine(t, source);
    const got = await shell(
      `curl -fsSLO $URL/cli/moorage; chmod +x moorage
    ln -s moorage docker-credential-moorage; ./docker-credential-moorage version
    ./moorage auth configure-pip acme --url $URL --file pip.conf --keyring-dir bin
    bin/keyring get https://elsewhere.example.com/simple/ any || echo "no password: $?"
    ./moorage auth configure-kubelet registry.example.com --identity ${"a".repeat(40)} --bin-dir bin --name other || echo "refused: $?"`,
    );
    assert.equal(got.code, 0, got.stderr);
    assert.match(got.stdout, /^docker-credential-moorage \(moorage\) v/);
    assert.match(got.stdout, /no password: 1\n/);
    assert.match(got.stdout, /refused: 2\n/);
    assert.match(got.stderr, /as other this file would not be moorage-credential-kubelet/);
    assert.equal(existsSync(join(home, "bin", "other")), false);
  },

  "npm installs the command from the server, which is a registry with that package alone": async (t, source) => {
    const { url, token } = source;
    const { home, shell } = machine(t, source);
    const prefix = join(home, "prefix");
    mkdirSync(prefix);
    const env = { npm_config_prefix: prefix, npm_config_update_notifier: "false" };
    const got = await shell("npm install --global --registry $URL/npm/-/moorage/ moorage", env);
    assert.equal(got.code, 0, got.stderr);
    const found = await shell("moorage --version; docker-credential-moorage version; moorage repos list acme", {
      PATH: `${join(prefix, "bin")}:${PATH}`,
      MOORAGE_URL: url,
      MOORAGE_TOKEN: token,
    });
    assert.equal(found.code, 0, found.stderr);
    assert.match(found.stdout, /^([\d.]+)\ndocker-credential-moorage \(moorage\) v\1\n/);
    const other = await shell("npm install --global --registry $URL/npm/-/moorage/ left-pad", env);
    assert.notEqual(other.code, 0);
    assert.match(other.stderr, /E404/);
  },

  "a Node that is too old gets one line, which says what to do": async (t, source) => {
    const { code, stdout } = await run("/usr/bin/node", ["--version"]);
    if (code !== 0 || Number(/^v(\d+)/.exec(stdout)?.[1]) >= LEAST_NODE_MAJOR)
      return t.skip("this machine's own Node is not older than 22, or it has none");
    const { shell } = machine(t, source);
    const ran = await shell("curl -fsSLO $URL/cli/moorage; chmod +x moorage; /usr/bin/node moorage repos list");
    assert.equal(ran.code, 1);
    assert.match(ran.stderr, /^moorage needs Node 22 or later, this is v[\d.]+: get a newer one .*\n$/);
  },
};
