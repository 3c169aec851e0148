import assert from "node:assert/strict";
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { run, startServing, temporaryFolder, terminate } from "./commands.ts";

const PACK = fileURLToPath(new URL("../../../scripts/pack.ts", import.meta.url));
const MODULES = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const BUILD = fileURLToPath(new URL("../../../build", import.meta.url));

test("the packed packages install into an empty folder, and serve and token run there", async (t) => {
  const folder = temporaryFolder(t);
  const tarballs = await packedOnce();
  assert.equal(tarballs.length, 9);
  const helperTarball = tarballs.find((path) => path.includes("docker-credential-moorage-")) ?? assert.fail();
  await installsAlone(helperTarball, join(folder, "job"));

  const home = join(folder, "home");
  mkdirSync(home);
  const installed = await run(
    "npm",
    [
      "install",
      "--prefix",
      home,
      "--prefer-offline",
      "--no-audit",
      "--no-fund",
      ...tarballs.filter((path) => path !== helperTarball),
    ],
    { cwd: home },
  );
  assert.equal(installed.code, 0, installed.stderr);
  const command = join(home, "node_modules", ".bin", "moorage");
  assert.equal(
    existsSync(join(home, "node_modules", "moorage", "src")),
    false,
    "the package holds no TypeScript sources",
  );

  const { stdout: version } = await run(command, ["--version"], { cwd: home });
  assert.match(version, /^\d+\.\d+\.\d+\n$/);
  const helper = join(home, "node_modules", ".bin", "docker-credential-moorage");
  assert.deepEqual(await run(helper, ["version"], { cwd: home }), {
    code: 0,
    stdout: `docker-credential-moorage (moorage) v${version}`,
    stderr: "",
  });
  const server = await startServing(t, command, ["serve", "--port", "0"], { cwd: home });
  const { code, stdout, stderr } = await run(command, ["token"], { cwd: home });
  assert.equal(code, 0, stderr);
  const headers = { authorization: `Bearer ${stdout.trim()}`, "content-type": "application/json" };
  const called = await run(command, ["call", "RolesService/ListRoles", "{}", "--url", server.url], { cwd: home });
  assert.equal(called.code, 0, called.stderr);
  const answer = await fetch(`${server.url}/iam/v2/roles?name=viewer`, { headers });
  assert.equal(answer.status, 200);
  assert.equal(((await answer.json()) as { totalCount: string }).totalCount, "1");
  // The lines of the API package's own README, in a project that has only the packed packages.
  const readme = readFileSync(join(home, "node_modules", "@moorage", "api", "README.md"), "utf8");
  const [, program = ""] = /```ts\n([^]*?)```/.exec(readme) ?? [];
  writeFileSync(join(home, "list.mts"), program);
  const types = ["--types", "node", "--typeRoots", join(MODULES, "@types")];
  const strict = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--skipLibCheck", ...types];
  const checked = await run(process.execPath, [join(MODULES, "typescript/bin/tsc"), ...strict, "list.mts"], {
    cwd: home,
  });
  assert.equal(checked.code, 0, checked.stdout);
  const listed = await run(process.execPath, [join(home, "list.mts")], {
    cwd: home,
    env: { MOORAGE_URL: server.url, MOORAGE_TOKEN: stdout.trim() },
  });
  assert.equal(listed.code, 0, listed.stderr);
  assert.match(listed.stdout, /^from-typescript was made in 20\d\d$/m);
  assert.equal(listed.stderr, "");
  const viewer = await fetch(`${server.url}/docs/swagger-ui-bundle.js`);
  assert.equal(viewer.status, 200);
  assert.match(await viewer.text(), /SwaggerUIBundle/);
  assert.equal(await terminate(server), 0);
});

test("installed for the whole machine, the package has the command, its completion and its man pages", async (t) => {
  const packed = await packedOnce();
  const prefix = temporaryFolder(t);
  // All that it depends on is in it.
  const args = ["install", "--global", "--prefix", prefix, "--offline", "--no-audit", "--no-fund"];
  const installed = await run("npm", [...args, ...packed.filter((path) => /\/moorage-\d[^/]*$/.test(path))]);
  assert.equal(installed.code, 0, installed.stderr);
  assert.deepEqual(
    readdirSync(join(prefix, "lib", "node_modules")).filter((name) => name !== "npm"),
    ["moorage"],
  );
  const env = { PATH: `${join(prefix, "bin")}:${process.env["PATH"] ?? ""}`, HOME: prefix, XDG_CONFIG_HOME: prefix };
  const { stdout: version } = await run("moorage", ["--version"], { env });
  assert.match(version, /^\d+\.\d+\.\d+\n$/);

  const own = join(prefix, "lib", "node_modules", "moorage");
  assert.deepEqual(readdirSync(join(own, "completions")).toSorted(), [
    "_moorage",
    "moorage.bash",
    "moorage.fish",
    "moorage.ps1",
  ]);
  assert.match(readFileSync(join(own, "docs/cli.md"), "utf8"), /^#### repos list$/m);
  assert.match(readFileSync(join(own, "docs/events-reference.md"), "utf8"), /^## `dev\.moorage\..*tag\.created\.v1`$/m);
  const script = await run("moorage", ["completion", "bash"], { env });
  assert.equal(script.stdout, readFileSync(join(own, "completions", "moorage.bash"), "utf8"));
  const line = "moorage repos cre";
  const asked = `. "$1"; COMP_LINE='${line}' COMP_POINT=${line.length}; _moorage moorage; echo "$COMPREPLY"`;
  const completed = await run("bash", ["-c", asked, "bash", join(own, "completions", "moorage.bash")], { env });
  assert.deepEqual(completed, { code: 0, stdout: "create\n", stderr: "" });

  const pages = join(prefix, "share", "man", "man1");
  for (const page of ["moorage.1", "moorage-repos.1", "moorage-serve.1"])
    assert.match(readFileSync(join(pages, page), "utf8"), /^\.TH "MOORAGE/m);
  if ((await run("man", ["--version"])).code !== 0)
    return t.diagnostic("no man on this machine: pages were not rendered");
  for (const page of readdirSync(pages)) {
    const options = ["--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", join(pages, page)];
    const rendered = await run("man", options, { env: { LC_ALL: "C.UTF-8", MANWIDTH: "80" } });
    assert.deepEqual({ page, code: rendered.code, stderr: rendered.stderr }, { page, code: 0, stderr: "" });
  }
  const shown = await run("man", ["moorage-repos"], {
    env: { MANPATH: join(prefix, "share", "man"), PAGER: "cat", MANPAGER: "cat" },
  });
  assert.match(shown.stdout, /moorage repos create \[flags\] <name>/);
});

let packing: Promise<string[]> | undefined;

/**
 * The packages' files, packed once for all tests of this file; those in the folder MOORAGE_TEST_PACKED, where that is
 * set, as after `npm run release`.
 */
function packedOnce(): Promise<string[]> {
  packing ??= (async () => {
    const folder = process.env["MOORAGE_TEST_PACKED"];
    if (folder !== undefined) return globSync("*.tgz", { cwd: folder }).map((name) => join(folder, name));
    // Half a minute on a quiet machine, and many times that beside other tests.
    const packed = await run(process.execPath, [PACK], { timeoutMs: 600_000 });
    assert.equal(packed.code, 0, `${packed.stdout}\n${packed.stderr}`);
    return globSync("*.tgz", { cwd: BUILD }).map((name) => join(BUILD, name));
  })();
  return packing;
}

/** The helper's own package works with nothing beside it: what a CI job installs. */
async function installsAlone(tarball: string, job: string): Promise<void> {
  mkdirSync(job);
  const args = ["install", "--prefix", job, "--offline", "--no-audit", "--no-fund", tarball];
  const installed = await run("npm", args, { cwd: job });
  assert.equal(installed.code, 0, installed.stderr);
  assert.deepEqual(
    readdirSync(join(job, "node_modules")).filter((name) => !name.startsWith(".")),
    ["docker-credential-moorage"],
  );
  const bin = join(job, "node_modules", ".bin");
  const helper = join(bin, "docker-credential-moorage");
  const request = {
    apiVersion: "credentialprovider.kubelet.k8s.io/v1",
    kind: "CredentialProviderRequest",
    image: "registry.example.org/acme/app",
  };
  const plugin = `echo '${JSON.stringify(request)}' | ${bin}/moorage-credential-kubelet --registry=registry.example.com`;
  const answered = await run("bash", ["-c", plugin], { cwd: job });
  assert.match(answered.stdout, /"auth":null/, answered.stderr);
  const keyring = [`${bin}/moorage-keyring`, "get", "https://registry.example.com/pypi/acme/simple/", "any"].join(" ");
  assert.equal((await run("bash", ["-c", `PATH=${dirname(process.execPath)}; ${keyring}`], { cwd: job })).code, 1);
  const env = {
    MOORAGE_REGISTRY_HOST: "registry.example.com",
    MOORAGE_IDENTITY: "c".repeat(40),
    MOORAGE_ID_TOKEN: "e30.e30.e30",
  };
  const got = await run("bash", ["-c", `echo registry.example.com | ${helper} get`], { cwd: job, env });
  assert.equal(got.code, 0, got.stdout);
  assert.deepEqual(JSON.parse(got.stdout), {
    ServerURL: "registry.example.com",
    Username: "c".repeat(40),
    Secret: "e30.e30.e30",
  });
}
