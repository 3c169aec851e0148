import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { moorage, type Outcome, temporaryFolder } from "./commands.ts";

// `moorage auth configure-…` changes files of other programs: what it shows, what it leaves as it is, and when it
// changes nothing.

const REGISTRY = "registry.example.com:5000";
const UID = "a1".repeat(20);

interface Home {
  folder: string;
  path(...parts: string[]): string;
  auth(...args: string[]): Promise<Outcome>;
  /** Writes a file and returns its path. */
  write(path: string, text: string, mode?: number): string;
}

function homeOf(t: TestContext): Home {
  const folder = temporaryFolder(t);
  const path = (...parts: string[]): string => join(folder, ...parts);
  return {
    folder,
    path,
    auth: (...args) =>
      moorage(["auth", ...args], {
        cwd: folder,
        env: {
          HOME: folder,
          XDG_CONFIG_HOME: path("config"),
          DOCKER_CONFIG: "",
          REGISTRY_AUTH_FILE: "",
          PIP_CONFIG_FILE: "",
        },
      }),
    write(name, text, mode = 0o600) {
      const file = path(name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      chmodSync(file, mode);
      return file;
    },
  };
}

const modeOf = (path: string): number => statSync(path).mode & 0o777;

test("docker, podman and helm each get the helper in their own file, for its owner alone", async (t) => {
  const home = homeOf(t);
  for (const [client, file] of [
    ["docker", home.path(".docker", "config.json")],
    ["podman", home.path("config", "containers", "auth.json")],
    ["helm", home.path("config", "helm", "registry", "config.json")],
  ] as const) {
    const { code, stdout, stderr } = await home.auth(`configure-${client}`, REGISTRY, "https://Other.example.com/");
    assert.equal(code, 0, stderr);
    assert.equal(
      stdout,
      `${file}\n  + credHelpers: "${REGISTRY}": "moorage"\n  + credHelpers: "other.example.com": "moorage"\n`,
    );
    assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), {
      credHelpers: { [REGISTRY]: "moorage", "other.example.com": "moorage" },
    });
    assert.equal(modeOf(file), 0o600);
    assert.deepEqual(
      readdirSync(dirname(file)),
      [file.slice(dirname(file).length + 1)],
      "no draft and no lock is left",
    );
  }
});

test("everything else in the file stays as it is written; --remove takes out what was put in, and nothing else", async (t) => {
  const home = homeOf(t);
  const before = [
    "{",
    '    "auths": {"a.example.com": {"auth": "c2VjcmV0"}},   ',
    '    "unknown": 1.50, "HttpHeaders": {  "X":"y" },',
    '    "credHelpers": {"gcr.io": "gcloud", "registry.example.com:5000": "ecr-login"}',
    "}",
    "",
  ];
  const file = home.write("config.json", before.join("\r\n"), 0o640);
  const shown = await home.auth("configure-docker", REGISTRY, "--file", file, "--dry-run");
  assert.equal(readFileSync(file, "utf8"), before.join("\r\n"));
  assert.match(shown.stderr, /a dry run: nothing is written/);
  const made = await home.auth("configure-docker", REGISTRY, "--file", file);
  assert.equal(made.stdout, shown.stdout);
  assert.match(made.stdout, /\n {2}- credHelpers: ".*": "ecr-login"\n {2}\+ credHelpers: ".*": "moorage"\n$/);
  assert.equal(readFileSync(file, "utf8"), before.join("\r\n").replace("ecr-login", "moorage"));
  assert.equal(modeOf(file), 0o640);

  const after = readFileSync(file, "utf8");
  const seconds = statSync(file).mtimeMs;
  assert.equal((await home.auth("configure-docker", REGISTRY, "--file", file)).stdout, `${file}: nothing to change\n`);
  assert.deepEqual([readFileSync(file, "utf8"), statSync(file).mtimeMs], [after, seconds]);

  assert.equal((await home.auth("configure-docker", "gcr.io", REGISTRY, "--file", file, "--remove")).code, 0);
  const { credHelpers, ...rest } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  assert.deepEqual(credHelpers, { "gcr.io": "gcloud" });
  assert.deepEqual(rest, { auths: { "a.example.com": { auth: "c2VjcmV0" } }, unknown: 1.5, HttpHeaders: { X: "y" } });
  assert.ok(readFileSync(file, "utf8").startsWith(before.slice(0, 3).join("\r\n")));
  const again = await home.auth("configure-docker", REGISTRY, "--file", file, "--remove");
  assert.equal(again.stdout, `${file}: nothing to change\n`);
  const none = await home.auth("configure-docker", REGISTRY, "--file", home.path("none"), "--remove");
  assert.deepEqual([none.code, existsSync(home.path("none"))], [0, false]);
});

test("a damaged file is an error that names it, shows nothing of it, and changes nothing", async (t) => {
  const home = homeOf(t);
  for (const [command, text, words] of [
    ["configure-docker", `{"auths": {"a": {"auth": "hidden"}}`, /it is no JSON/],
    ["configure-docker", `// hidden\n{}`, /it is no JSON/],
    ["configure-docker", `["hidden"]`, /it is no JSON object/],
    ["configure-docker", `{"credHelpers": ["hidden"]}`, /credHelpers is no object/],
    ["configure-docker", `{"credHelpers": {"${REGISTRY}": "a"}, "credHelpers": {}}`, /is there twice/],
    ["configure-docker", Buffer.from([0x7b, 0xff, 0x7d]).toString("latin1"), /no UTF-8 text/],
    ["configure-kubelet", "a: [hidden", /it is no YAML \(line 1\)/],
    ["configure-kubelet", "- hidden", /it is no object/],
    ["configure-kubelet", "apiVersion: v1\nkind: Pod\n", /apiVersion is not kubelet\.config\.k8s\.io\/v1/],
    ["configure-kubelet", `{"apiVersion": "kubelet.config.k8s.io/v1", "kind": "hidden"}`, /kind is not Cred/],
    [
      "configure-kubelet",
      "apiVersion: kubelet.config.k8s.io/v1\nkind: CredentialProviderConfig\nproviders: hidden\n",
      /providers is no list/,
    ],
  ] as [string, string, RegExp][]) {
    const file = home.path("damaged");
    writeFileSync(file, text, "latin1");
    const { code, stdout, stderr } = await home.auth(command, REGISTRY, "--file", file);
    assert.deepEqual([code, stdout], [1, ""], text);
    assert.match(stderr, words);
    assert.ok(stderr.startsWith(`moorage: ${file} is damaged, and is left as it is: `), stderr);
    assert.equal(stderr.split("\n").length, 2);
    assert.ok(!stderr.includes("hidden"), stderr);
    assert.equal(readFileSync(file, "latin1"), text);
    assert.deepEqual(readdirSync(home.folder), ["damaged"]);
  }
  mkdirSync(home.path("folder"));
  const folder = await home.auth("configure-docker", REGISTRY, "--file", home.path("folder"));
  assert.match(folder.stderr, /folder is no file/);
  for (const [args, words] of [
    [["configure-docker", "a/b"], /^moorage: REGISTRY: must look like/],
    [["configure-docker", "user@a.example.com"], /^moorage: REGISTRY: must look like/],
    [["configure-kubelet", REGISTRY, "--identity", "me"], /^moorage: --identity: must be the uid/],
    [["configure-kubelet", REGISTRY, "--id-token-file", "a"], /^moorage: --id-token-file: must be an absolute path/],
    [["configure-kubelet", REGISTRY, "--name", "a/b"], /^moorage: --name: must be the name of a file/],
    [["configure-kubelet", REGISTRY, "--no-service-accounts"], /^moorage: --id-token-file: is required/],
    [["configure-kubelet", REGISTRY, "--remove"], /^moorage: --file: is required/],
    [["configure-pip", "Acme/..", "--url", "https://a.example.com"], /^moorage: GROUP: must look like/],
    [
      ["configure-npm", "acme", "--url", "https://a.example.com", "--scope", "acme"],
      /^moorage: --scope: must look like/,
    ],
  ] as [string[], RegExp][]) {
    const { code, stderr } = await home.auth(...args);
    assert.equal(code, 2, args.join(" "));
    assert.match(stderr, words);
  }
  const nowhere = await home.auth("configure-docker");
  assert.deepEqual([nowhere.code, existsSync(home.path(".docker"))], [4, false]);
  assert.match(nowhere.stderr, /not signed in to any server; name a registry, or moorage login/);
});

test("a link to a file stays a link, and concurrent changes are all there afterwards", async (t) => {
  const home = homeOf(t);
  const real = home.write("dotfiles/docker.json", "{}\n");
  mkdirSync(home.path(".docker"));
  symlinkSync(real, home.path(".docker", "config.json"));
  const names = Array.from({ length: 6 }, (_, at) => `r${at}.example.com`);
  const outcomes = await Promise.all(names.map((name) => home.auth("configure-docker", name)));
  assert.deepEqual(
    outcomes.map(({ code }) => code),
    names.map(() => 0),
    outcomes.map(({ stderr }) => stderr).join(""),
  );
  assert.ok(lstatSync(home.path(".docker", "config.json")).isSymbolicLink());
  const { credHelpers } = JSON.parse(readFileSync(real, "utf8")) as { credHelpers: Record<string, string> };
  assert.deepEqual(Object.keys(credHelpers).toSorted(), names);
});

test("the kubelet's configuration: printed, added to a file with others, changed, and taken out", async (t) => {
  const home = homeOf(t);
  const printed = await home.auth("configure-kubelet", REGISTRY, "--url", "https://moorage.example.com");
  const entry = {
    name: "moorage-credential-kubelet",
    matchImages: [REGISTRY],
    defaultCacheDuration: "1m0s",
    apiVersion: "credentialprovider.kubelet.k8s.io/v1",
    args: [`--registry=${REGISTRY}`, "--url=https://moorage.example.com"],
    tokenAttributes: {
      serviceAccountTokenAudience: "moorage.example.com",
      cacheType: "ServiceAccount",
      requireServiceAccount: true,
      optionalServiceAccountAnnotationKeys: ["moorage.dev/identity"],
    },
  };
  const whole = { apiVersion: "kubelet.config.k8s.io/v1", kind: "CredentialProviderConfig" };
  assert.deepEqual(parse(printed.stdout), { ...whole, providers: [entry] });

  const others =
    "apiVersion: kubelet.config.k8s.io/v1\nkind: CredentialProviderConfig\nproviders:\n  # of the cloud\n  - name: ecr\n    matchImages: ['*.example.org']\n";
  const file = home.write("kubelet.yaml", others, 0o644);
  const flags = ["--url", "https://moorage.example.com", "--file", file];
  const bin = home.path("bin");
  assert.equal((await home.auth("configure-kubelet", REGISTRY, ...flags, "--bin-dir", bin)).code, 0);
  assert.ok(readFileSync(file, "utf8").startsWith(others));
  const ecr = { name: "ecr", matchImages: ["*.example.org"] };
  assert.deepEqual(parse(readFileSync(file, "utf8")), { ...whole, providers: [ecr, entry] });
  assert.equal(modeOf(file), 0o644);
  const plugin = fileURLToPath(new URL("../bin/moorage-credential-kubelet.js", import.meta.url));
  assert.equal(realpathSync(join(bin, "moorage-credential-kubelet")), realpathSync(plugin));
  const again = await home.auth("configure-kubelet", REGISTRY, ...flags, "--bin-dir", bin);
  assert.equal(again.stdout, `${file}: nothing to change\n${join(bin, entry.name)}: nothing to change\n`);

  const changed = await home.auth("configure-kubelet", REGISTRY, ...flags, "--identity", UID, "--cache-type", "Token");
  assert.equal(
    changed.stdout,
    `${file}\n  + providers: ${entry.name}\n  -   cacheType: ServiceAccount\n  +   - --identity=${UID}\n  +   cacheType: Token\n`,
  );
  await home.auth("configure-kubelet", REGISTRY, ...flags, "--id-token-file", "/var/run/token", "--name", "second");
  const { providers } = parse(readFileSync(file, "utf8")) as { providers: (typeof entry & { env: unknown })[] };
  assert.deepEqual(
    providers.map(({ name }) => name),
    ["ecr", entry.name, "second"],
  );
  assert.deepEqual(providers[2]?.env, [{ name: "MOORAGE_ID_TOKEN_FILE", value: "/var/run/token" }]);
  assert.equal(providers[2]?.tokenAttributes.requireServiceAccount, false);
  const old = await home.auth(
    "configure-kubelet",
    REGISTRY,
    "--no-service-accounts",
    "--id-token-file",
    "/var/run/token",
  );
  const [only] = (parse(old.stdout) as { providers: object[] }).providers;
  assert.deepEqual(Object.keys(only ?? {}).toSorted(), [
    "apiVersion",
    "args",
    "defaultCacheDuration",
    "env",
    "matchImages",
    "name",
  ]);
  for (const name of ["second", entry.name])
    assert.equal((await home.auth("configure-kubelet", "--file", file, "--remove", "--name", name)).code, 0);
  assert.deepEqual(parse(readFileSync(file, "utf8")), { ...whole, providers: [ecr] });
  assert.match(readFileSync(file, "utf8"), /# of the cloud/);

  // Clouds write it as JSON.
  const json = home.write("kubelet.json", JSON.stringify({ ...whole, providers: [ecr] }, null, 2), 0o644);
  await home.auth("configure-kubelet", REGISTRY, "--url", "https://moorage.example.com", "--file", json);
  assert.deepEqual(JSON.parse(readFileSync(json, "utf8")), { ...whole, providers: [ecr, entry] });

  const taken = home.write("bin/taken", "#!/bin/sh\n", 0o755);
  const refused = await home.auth("configure-kubelet", REGISTRY, "--bin-dir", bin, "--name", "taken");
  assert.deepEqual([refused.code, readFileSync(taken, "utf8")], [1, "#!/bin/sh\n"]);
  assert.match(refused.stderr, /bin\/taken is something else, and is left as it is/);
});
