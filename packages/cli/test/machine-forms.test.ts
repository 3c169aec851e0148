import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { test, type TestContext } from "node:test";
import { parse } from "yaml";
import { githubClaims } from "../../server/test/support/ci-jobs.ts";
import { openIssuer } from "../../server/test/support/issuer.ts";
import { LAUNCHER, run, temporaryFolder } from "./commands.ts";
import { openQuick, type Quick } from "./quick.ts";

// Machines by the forms of `moorage identities create`, from the form to the push.

const ISSUER_ID = "https://0a0a.tokens.sts.global.api.aws";
const UUID = "0f0f0f0f-1111-4222-8333-444444444444";

/** Programs of a CI runner that this machine may not have, in a folder for the beginning of PATH. */
function runnerTools(folder: string, url: string): void {
  const tools: Record<string, string> = {
    jq: `process.stdin.on("data", (all) => console.log(JSON.parse(all)[process.argv[3].slice(1)]));`,
    // It logs in and pushes as docker does on the wire: by the sample's push, with what was given to the login.
    docker: `
      const { execFileSync } = require("node:child_process");
      const { readFileSync, writeFileSync } = require("node:fs");
      const { argv, execPath, env } = process;
      const [, , verb, name, , user] = argv;
      const kept = ${JSON.stringify(join(folder, "login.json"))};
      if (verb === "login") writeFileSync(kept, JSON.stringify({ name, user, password: readFileSync(0, "utf8").trim() }));
      if (verb === "push") {
        const { user, password } = JSON.parse(readFileSync(kept, "utf8"));
        const image = ${JSON.stringify(url)} + name.slice(name.indexOf("/"));
        const args = [${JSON.stringify(LAUNCHER)}, "sample", "--push", image, "--user", user, "--password-stdin"];
        execFileSync(execPath, args, { input: password, stdio: ["pipe", "inherit", "inherit"], env });
      }`,
  };
  for (const [name, script] of Object.entries(tools)) {
    writeFileSync(join(folder, `${name}.cjs`), script);
    writeFileSync(join(folder, name), `#!/bin/sh\nexec "${process.execPath}" "${join(folder, `${name}.cjs`)}" "$@"\n`);
    chmodSync(join(folder, name), 0o755);
  }
}

test("forms for machines", async (t) => {
  const quick = await openQuick(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  await t.test("CI by the form for GitHub: what the command prints logs in and pushes", () => pushFromCi(t, quick));
  await t.test("the forms' flags are checked, and one that does not fit is named", () => checkFlags(quick));
  await t.test("each form makes its identity, and prints lines that log in with its uid", () => makeEach(quick));
});

async function pushFromCi(t: TestContext, { as, done, url }: Quick): Promise<void> {
  const issuer = await openIssuer();
  t.after(() => issuer.close());
  const by = ["--github", "acme/app", "--branch", "main", "--issuer", issuer.url, "--role", "registry.push"];
  // A name without a path is one of the caller's organization.
  const made = await as("identities", "create", "ci", ...by);
  assert.equal(made.code, 0, made.stderr);
  assert.ok(
    made.stderr.startsWith(
      "Made acme/ci. It accepts tokens of GitHub Actions, of jobs of the repository\nacme/app on the branch main,",
    ),
    made.stderr,
  );
  assert.match(
    made.stderr,
    /^ {2}sub +matches +repo:acme\(@\[0-9\]\+\)\?\/app\(@\[0-9\]\+\)\?:ref:refs\/heads\/main$/m,
  );
  assert.match(made.stderr, /^ {2}gh api repos\/acme\/app --jq '\.id, \.owner\.id'$/m);
  assert.match(made.stderr, /^It has the role registry\.push in acme and everything below it\.$/m);
  assert.match(made.stderr, /^For \.github\/workflows\/push\.yml:$/m);

  // Standard output is the workflow alone.
  const workflow = parse(made.stdout) as { permissions: object; jobs: { push: { steps: { run?: string }[] } } };
  assert.deepEqual(workflow.permissions, { contents: "read", "id-token": "write" });
  const scripts = workflow.jobs.push.steps.flatMap(({ run: script }) => script ?? []);
  const folder = temporaryFolder(t);
  runnerTools(folder, url);
  const job = async (changes: Record<string, unknown>) => {
    issuer.routes.set("/token", (request, response) => {
      const audience = new URL(request.url ?? "", issuer.url).searchParams.get("audience") ?? "";
      void issuer
        .sign(githubClaims(issuer, audience, { environment: undefined, ...changes }))
        .then((value) => response.setHeader("content-type", "application/json").end(JSON.stringify({ value })));
    });
    const env = {
      PATH: `${folder}${delimiter}${process.env["PATH"] ?? ""}`,
      ACTIONS_ID_TOKEN_REQUEST_URL: `${issuer.url}/token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: "played",
    };
    return run("bash", ["-e", "-c", scripts.join("\n")], { cwd: folder, env });
  };
  const pushed = await job({});
  assert.equal(pushed.code, 0, pushed.stderr);
  assert.match(await done("tags", "list", "acme/app"), /^acme\/app:latest /m);
  const fork = { sub: "repo:acme/app:pull_request", event_name: "pull_request", ref: "refs/pull/1/merge" };
  for (const changes of [fork, { ref: "refs/heads/evil", sub: "repo:acme/app:ref:refs/heads/evil" }]) {
    const refused = await job(changes);
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /does not accept claim sub/);
  }
}

async function checkFlags({ as }: Quick): Promise<void> {
  const fails = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await as("identities", "create", "acme/x", ...args);
    assert.deepEqual([code, stdout], [2, ""], `${args.join(" ")}: ${stderr}`);
    return stderr.trimEnd();
  };
  assert.equal(
    await fails("--github", "*/app", "--branch", "main"),
    "moorage: --github: must be owner/name of one repository; a wildcard would let in what others make",
  );
  assert.match(await fails("--github", "acme/app"), /^moorage: --branch: is required, or a tag, an environment/);
  assert.match(
    await fails("--branch", "main"),
    /^moorage: --branch: belongs to a form for machines; name one: --github/,
  );
  assert.match(await fails("--role", "registry.push"), /^moorage: --role: belongs to a form/);
  assert.equal(
    await fails("--kubernetes", "ci/builder", "--branch", "main"),
    "moorage: --branch: does not belong to --kubernetes; that takes --issuer, --audience",
  );
  assert.match(await fails("--github", "acme/app", "--gitlab", "acme/app"), /--github and --gitlab exclude each other/);
  assert.equal(
    await fails("--github", "acme/app", "--branch", "main", "--claim-match-subject", "x"),
    "moorage: --claim-match-subject: and --github exclude each other",
  );
  const noRole = await as("identities", "create", "acme/x", "--gitlab", "acme/app", "--ref", "main", "--role", "nope");
  assert.equal(noRole.code, 3, noRole.stderr);
  assert.equal((await as("identities", "get", "acme/x")).code, 3, "nothing was made");
  const planned = await as("identities", "create", "acme/x", "--gitlab", "acme/app", "--ref", "main", "--dry-run");
  assert.deepEqual([planned.code, planned.stdout], [0, ""]);
  assert.match(planned.stderr, /Would make acme\/x\. It accepts tokens of GitLab CI\/CD/);
  assert.equal((await as("identities", "get", "acme/x")).code, 3, "nothing was made");
}

async function makeEach({ as, host }: Quick): Promise<void> {
  const issuer = ["--issuer", "https://cluster.example.com"];
  const lines: [name: string, flags: string[], expected: RegExp][] = [
    ["gl", ["--gitlab", "acme/team/app", "--tag", "v*", "--no-protected"], /^ {6}aud: http:/m],
    ["bk", ["--buildkite", "acme/app", "--branch", "main"], /buildkite-agent oidc request-token --audience http:/],
    ["cc", ["--circleci", `${UUID}/${UUID}`, "--branch", "main"], /circleci run oidc get --claims '\{"aud":"http:/],
    ["k8s", ["--kubernetes", "ci/builder", ...issuer], /^ {14}audience: http:/m],
    ["gcp", ["--google", "103547991597142817347"], /instance\/service-accounts\/default\/identity\?audience=http%3A/],
    ["entra", ["--azure", UUID, "--tenant", UUID, "--audience", "api://moorage"], /resource=api%3A%2F%2Fmoorage"/],
    [
      "aws",
      ["--aws", "arn:aws:iam::123456789012:role/ci", "--issuer", ISSUER_ID],
      /get-web-identity-token --audience http:/,
    ],
  ];
  for (const [name, flags, expected] of lines) {
    const { code, stdout, stderr } = await as("identities", "create", name, ...flags);
    assert.equal(code, 0, stderr);
    assert.match(stdout, expected);
    const { uid } = JSON.parse((await as("identities", "get", `acme/${name}`, "-o", "json")).stdout) as {
      uid: string;
    };
    assert.ok(stdout.includes(`login ${host} --username ${uid} --password-stdin`), stdout);
    assert.match(stderr, /^ {2}iss +is +https:\/\//m);
    assert.match(stderr, /^It has no role, and can do nothing until it has one:$/m);
    if (stdout.startsWith("docker build")) continue;
    assert.doesNotThrow(() => void parse(stdout), `${name}: ${stdout}`);
  }
  // Another format prints the identity, as without a form.
  const json = await as("identities", "create", "json", "--google", "103547991597142817347", "-o", "json");
  assert.equal((JSON.parse(json.stdout) as { name: string }).name, "json");
}
