import assert from "node:assert/strict";
import { test } from "node:test";
import { type FormResult, MACHINE_FORMS, readForm } from "@moorage/api/machines";
import { startInstallation } from "../../../server/test/support/installation.ts";
import { openIssuer } from "../../../server/test/support/issuer.ts";

// Identities that the forms for machines make, and tokens of the same system that must not become them: those of other
// repositories, branches, environments, of pull requests and of forks, and of names that a pattern could take for ours.

type Claims = Record<string, unknown>;

interface Attempt {
  why: string;
  changes: Claims;
  /** The claim that does not fit. */
  refused: string;
}

interface Case {
  form: string;
  values: Record<string, string>;
  /** What a token has that must be accepted. */
  good: Claims;
  /** Changes with which it must still be accepted. */
  also?: Claims[];
  attempts: Attempt[];
}

const ORG = "0f0f0f0f-1111-4222-8333-444444444444";
const PROJECT = "0a0a0a0a-1111-4222-8333-444444444444";
const attempt = (why: string, refused: string, changes: Claims): Attempt => ({ why, refused, changes });

const GITHUB = {
  sub: "repo:acme/app.js:ref:refs/heads/main",
  repository: "acme/app.js",
  repository_id: "71",
  repository_owner: "acme",
  repository_owner_id: "12",
  ref: "refs/heads/main",
  ref_type: "branch",
  event_name: "push",
};
const GITLAB = {
  sub: "project_path:acme/app:ref_type:branch:ref:main",
  project_path: "acme/app",
  project_id: "71",
  ref: "main",
  ref_type: "branch",
  ref_protected: "true",
  pipeline_source: "push",
};
const BUILDKITE = {
  sub: "organization:acme:pipeline:app:ref:refs/heads/main:commit:9f31:step:build",
  organization_slug: "acme",
  pipeline_slug: "app",
  build_branch: "main",
  organization_id: ORG,
};
const circle = (name: string): string => `oidc.circleci.com/${name}`;
const CIRCLECI = {
  sub: `org/${ORG}/project/${PROJECT}/user/${ORG}`,
  [circle("project-id")]: PROJECT,
  [circle("vcs-origin")]: "github.com/acme/app",
  [circle("vcs-ref")]: "refs/heads/main",
  [circle("ssh-rerun")]: false,
};

const CASES: Case[] = [
  {
    form: "github",
    values: { repository: "acme/app.js", branch: "main", repositoryId: "71", ownerId: "12" },
    good: GITHUB,
    also: [
      { sub: "repo:acme@12/app.js@71:ref:refs/heads/main" },
      { event_name: "workflow_dispatch" },
      { repository_id: 71 },
    ],
    attempts: [
      attempt("another repository", "sub", { sub: "repo:acme/other:ref:refs/heads/main", repository: "acme/other" }),
      attempt("a name that an unescaped pattern matches", "sub", { sub: "repo:acme/appXjs:ref:refs/heads/main" }),
      attempt("a longer name", "sub", { sub: "repo:acme/app.js.evil:ref:refs/heads/main" }),
      attempt("an owner in front", "sub", { sub: "repo:evil-acme/app.js:ref:refs/heads/main" }),
      attempt("the numbers of another repository", "sub", { sub: "repo:acme@12/app.js@72:ref:refs/heads/main" }),
      attempt("the name, registered again", "repository_id", { repository_id: "72" }),
      attempt("the owner's name, registered again", "repository_owner_id", { repository_owner_id: "13" }),
      attempt("another branch", "sub", { sub: "repo:acme/app.js:ref:refs/heads/evil", ref: "refs/heads/evil" }),
      attempt("a tag of the branch's name", "sub", {
        sub: "repo:acme/app.js:ref:refs/tags/main",
        ref: "refs/tags/main",
      }),
      attempt("a job in an environment", "sub", { sub: "repo:acme/app.js:environment:main" }),
      attempt("a pull request of a fork", "sub", {
        sub: "repo:acme/app.js:pull_request",
        ref: "refs/pull/7/merge",
        event_name: "pull_request",
      }),
      attempt("pull_request_target, for which the ref is the base", "event_name", {
        event_name: "pull_request_target",
      }),
      attempt("a workflow run that a fork caused", "event_name", { event_name: "workflow_run" }),
      attempt("a comment", "event_name", { event_name: "issue_comment" }),
      attempt("a subject of the repository's own choice", "sub", { sub: "repo:acme/app.js" }),
    ],
  },
  {
    form: "github",
    values: { repository: "acme/app.js", environment: "prod:eu" },
    good: { ...GITHUB, sub: "repo:acme/app.js:environment:prod%3Aeu", environment: "prod:eu" },
    also: [{ sub: "repo:acme@12/app.js@71:environment:prod:eu" }],
    attempts: [
      attempt("another environment", "sub", { sub: "repo:acme/app.js:environment:prod", environment: "prod" }),
      attempt("no environment", "sub", { sub: "repo:acme/app.js:ref:refs/heads/main", environment: undefined }),
      attempt("a pull request in the environment", "event_name", { event_name: "pull_request" }),
    ],
  },
  {
    form: "github",
    values: { repository: "acme/app.js", branch: "release/*", environment: "prod" },
    good: { ...GITHUB, sub: "repo:acme/app.js:environment:prod", environment: "prod", ref: "refs/heads/release/1" },
    attempts: [
      attempt("another branch in the environment", "ref", { ref: "refs/heads/main" }),
      attempt("a branch below", "ref", { ref: "refs/heads/release/1/evil" }),
      attempt("a tag", "ref", { ref: "refs/tags/release/1" }),
    ],
  },
  {
    form: "github",
    values: { repository: "acme/app.js", tag: "v*" },
    good: { ...GITHUB, sub: "repo:acme/app.js:ref:refs/tags/v1.0", ref: "refs/tags/v1.0" },
    attempts: [attempt("a branch of such a name", "sub", { sub: "repo:acme/app.js:ref:refs/heads/v1.0" })],
  },
  {
    form: "github",
    values: { repository: "acme/app.js", pullRequests: "true" },
    good: { ...GITHUB, sub: "repo:acme/app.js:pull_request", event_name: "pull_request" },
    attempts: [
      attempt("a push", "sub", { sub: "repo:acme/app.js:ref:refs/heads/main", event_name: "push" }),
      attempt("the target of a pull request", "event_name", { event_name: "pull_request_target" }),
    ],
  },
  {
    form: "gitlab",
    values: { project: "acme/app", branch: "main", projectId: "71" },
    good: GITLAB,
    also: [{ pipeline_source: "schedule" }],
    attempts: [
      attempt("another project", "sub", { sub: "project_path:evil/app:ref_type:branch:ref:main" }),
      attempt("the path, registered again", "project_id", { project_id: "72" }),
      attempt("another branch", "sub", { sub: "project_path:acme/app:ref_type:branch:ref:evil", ref: "evil" }),
      attempt("a tag", "sub", { sub: "project_path:acme/app:ref_type:tag:ref:main", ref_type: "tag" }),
      attempt("a branch that is not protected", "ref_protected", { ref_protected: "false" }),
      attempt("a merge request of a fork from its main branch", "pipeline_source", {
        pipeline_source: "merge_request_event",
      }),
    ],
  },
  {
    form: "gitlab",
    values: { project: "acme/app", environment: "prod", protected: "" },
    good: { ...GITLAB, environment: "prod", ref_protected: "false" },
    attempts: [
      attempt("another environment", "environment", { environment: "test" }),
      attempt("no environment", "environment", { environment: undefined }),
      attempt("a merge request", "pipeline_source", { pipeline_source: "merge_request_event" }),
    ],
  },
  {
    form: "buildkite",
    values: { pipeline: "acme/app", branch: "main", organizationId: ORG },
    good: BUILDKITE,
    attempts: [
      attempt("another organization", "sub", {
        sub: "organization:evil:pipeline:app:ref:refs/heads/main:commit:9f31:step:build",
      }),
      attempt("its name, registered again", "organization_id", { organization_id: PROJECT }),
      attempt("a branch of a fork", "sub", {
        sub: "organization:acme:pipeline:app:ref:refs/heads/evil:main:commit:9f31:step:build",
        build_branch: "evil:main",
      }),
      attempt("a step that is named as a ref", "sub", {
        sub: "organization:acme:pipeline:app:ref:refs/heads/evil:commit:9f31:step::ref:refs/heads/main:commit:1:step:x",
      }),
    ],
  },
  {
    form: "circleci",
    values: { project: `${ORG}/${PROJECT}`, branch: "main", origin: "github.com/acme/app" },
    good: CIRCLECI,
    also: [{ sub: `${CIRCLECI.sub}/vcs-origin/github.com/acme/app/vcs-ref/refs/heads/main` }],
    attempts: [
      attempt("another project", "sub", { sub: `org/${ORG}/project/${ORG}/user/${ORG}` }),
      attempt("another branch", circle("vcs-ref"), { [circle("vcs-ref")]: "refs/heads/evil" }),
      attempt("a fork", circle("vcs-origin"), { [circle("vcs-origin")]: "github.com/evil/app" }),
      attempt("a webhook, without an origin", circle("vcs-origin"), { [circle("vcs-origin")]: undefined }),
      attempt("a job that was restarted with SSH", circle("ssh-rerun"), { [circle("ssh-rerun")]: true }),
    ],
  },
  {
    form: "kubernetes",
    values: { account: "ci/builder", issuer: "https://cluster.example.com" },
    good: { sub: "system:serviceaccount:ci:builder" },
    attempts: [
      attempt("another account", "sub", { sub: "system:serviceaccount:ci:default" }),
      attempt("another namespace", "sub", { sub: "system:serviceaccount:evil:builder" }),
    ],
  },
  {
    form: "google",
    values: { account: "ci@acme.iam.gserviceaccount.com" },
    good: { sub: "103547991597142817347", email: "ci@acme.iam.gserviceaccount.com", email_verified: true },
    attempts: [
      attempt("another account", "email", { email: "evil@acme.iam.gserviceaccount.com" }),
      attempt("an address that was not verified", "email_verified", { email_verified: false }),
    ],
  },
  {
    form: "google",
    values: { account: "103547991597142817347" },
    good: { sub: "103547991597142817347" },
    attempts: [attempt("an account of the same address, made anew", "sub", { sub: "103547991597142817348" })],
  },
  {
    form: "azure",
    values: { objectId: PROJECT.toUpperCase(), tenant: ORG, audience: "api://moorage" },
    good: { sub: PROJECT, oid: PROJECT, tid: ORG, aud: "api://moorage" },
    attempts: [
      attempt("another identity of the tenant", "sub", { sub: ORG, oid: ORG }),
      attempt("the same identity in another tenant", "tid", { tid: PROJECT }),
      attempt("a token for another application", "aud", { aud: "api://other" }),
    ],
  },
  {
    form: "aws",
    values: {
      role: "arn:aws:iam::123456789012:role/ci/builder",
      issuer: "https://0a0a.tokens.sts.global.api.aws",
    },
    good: { sub: "arn:aws:iam::123456789012:role/ci/builder" },
    attempts: [
      attempt("another role", "sub", { sub: "arn:aws:iam::123456789012:role/builder" }),
      attempt("another account", "sub", { sub: "arn:aws:iam::210987654321:role/ci/builder" }),
    ],
  },
];

test("an identity of a form accepts its machine's tokens, and no other of the same issuer", async (t) => {
  const server = await startInstallation(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  const issuer = await openIssuer();
  t.after(() => issuer.close());
  const now = Math.floor(Date.now() / 1000);
  const lasting = { iss: issuer.url, aud: server.url, iat: now, nbf: now, exp: now + 300 };
  for (const [at, { form: name, values, good, also = [], attempts }] of CASES.entries()) {
    const { match } = resultOf(name, values);
    const { uid } = await server.api("POST", `/iam/v2/identities/${server.bootstrap.organization.uid}`, {
      name: `${name} ${at}`,
      claimMatch: { ...match, issuer: issuer.url },
    });
    const ask = async (changes: Claims): Promise<{ status: number; claim: string | undefined; text: string }> => {
      const token = await issuer.sign({ ...lasting, ...good, ...changes });
      const { status, json, text } = await server.ask("GET", `/sts/exchange?identity=${uid}`, { token });
      const details = (json.details ?? []) as { metadata?: { claim?: string } }[];
      return { status, claim: details[0]?.metadata?.claim, text };
    };
    for (const changes of [{}, ...also]) {
      const { status, text } = await ask(changes);
      assert.equal(status, 200, `${name} ${JSON.stringify(values)} with ${JSON.stringify(changes)}: ${text}`);
    }
    for (const { why, changes, refused } of attempts) {
      const { status, claim } = await ask(changes);
      assert.deepEqual([status, claim], [401, refused], `${name} ${JSON.stringify(values)}: ${why}`);
    }
  }
  assert.deepEqual(new Set(CASES.map(({ form }) => form)), new Set(MACHINE_FORMS.map(({ name }) => name)));
});

function formNamed(name: string) {
  const form = MACHINE_FORMS.find((one) => one.name === name);
  assert.ok(form, name);
  return form;
}

function resultOf(name: string, values: Record<string, string>): FormResult {
  const read = readForm(formNamed(name), values);
  assert.ok("result" in read, JSON.stringify(read));
  return read.result;
}

/** The fields that a form refuses, for what would let in more than one machine or means something else. */
const REFUSED: readonly (readonly [form: string, values: Record<string, string>, field: string])[] = [
  ["github", { branch: "main" }, "repository"],
  ["github", { repository: "acme", branch: "main" }, "repository"],
  ["github", { repository: "*/app", branch: "main" }, "repository"],
  ["github", { repository: "acme/*", branch: "main" }, "repository"],
  ["github", { repository: "acme/app:ref:refs/heads/main", branch: "main" }, "repository"],
  ["github", { repository: "acme/app" }, "branch"],
  ["github", { repository: "acme/app", branch: "refs/heads/main" }, "branch"],
  ["github", { repository: "acme/app", branch: "main:environment:prod" }, "branch"],
  ["github", { repository: "acme/app", branch: "main", tag: "v1" }, "tag"],
  ["github", { repository: "acme/app", environment: "*" }, "environment"],
  ["github", { repository: "acme/app", branch: "main", pullRequests: "true" }, "pullRequests"],
  ["github", { repository: "acme/app", branch: "main", repositoryId: "7*" }, "repositoryId"],
  ["github", { repository: "acme/app", branch: "main", issuer: "http://github.example.com" }, "issuer"],
  ["github", { repository: "acme/app", branch: "main", issuer: "https://*.example.com" }, "issuer"],
  ["github", { repository: "acme/app", branch: "main", audience: "*" }, "audience"],
  ["github", { repository: "acme/app", branch: "main", audience: "x' | sh" }, "audience"],
  ["github", { repository: "acme/app", branch: "main\n- run: sh" }, "branch"],
  ["gitlab", { project: "acme", branch: "main" }, "project"],
  ["gitlab", { project: "acme/*", branch: "main" }, "project"],
  ["gitlab", { project: "acme/app" }, "branch"],
  ["buildkite", { pipeline: "acme/*", branch: "main" }, "pipeline"],
  ["buildkite", { pipeline: "acme/app" }, "branch"],
  ["circleci", { project: "acme/app", branch: "main" }, "project"],
  ["circleci", { project: `${ORG}/*`, branch: "main" }, "project"],
  ["kubernetes", { account: "ci/builder" }, "issuer"],
  ["kubernetes", { account: "*/builder", issuer: "https://cluster.example.com" }, "account"],
  ["google", { account: "ada@example.com" }, "account"],
  ["azure", { objectId: ORG, tenant: "common", audience: "api://moorage" }, "tenant"],
  ["azure", { objectId: ORG, tenant: ORG }, "audience"],
  ["aws", { role: "arn:aws:sts::123456789012:assumed-role/builder/i-1", issuer: "https://x.example.com" }, "role"],
  ["aws", { role: "arn:aws:iam::123456789012:role/*", issuer: "https://x.example.com" }, "role"],
];

test("a form refuses what would let in the machines of others", () => {
  for (const [name, values, field] of REFUSED) {
    const read = readForm(formNamed(name), values);
    assert.ok("problems" in read, `${name} ${JSON.stringify(values)}`);
    assert.ok(
      read.problems.some((problem) => problem.field === field),
      `${name} ${JSON.stringify(values)}: ${JSON.stringify(read.problems)}`,
    );
  }
});

test("a form says who else gets in", () => {
  const warned = (name: string, values: Record<string, string>, words: RegExp): void => {
    const { warnings } = resultOf(name, values);
    assert.ok(
      warnings.some(({ text }) => words.test(text)),
      `${name} ${JSON.stringify(values)}: ${JSON.stringify(warnings)}`,
    );
  };
  const repository = "acme/app";
  warned("github", { repository, branch: "main" }, /gets the name acme\/app after it was given up/);
  warned("github", { repository, branch: "release/*" }, /a branch that matches release\/\*/);
  warned("github", { repository, tag: "v*" }, /a tag that matches v\*/);
  warned("github", { repository, environment: "prod" }, /Every branch whose workflow names the environment prod/);
  warned("github", { repository, pullRequests: "true" }, /a role that only pulls.+forks/);
  warned("gitlab", { project: repository, branch: "main", protected: "" }, /not protected are accepted/);
  warned("gitlab", { project: repository, branch: "main" }, /gets the path acme\/app/);
  warned("buildkite", { pipeline: repository, branch: "main" }, /pull requests of forks/);
  warned("circleci", { project: `${ORG}/${PROJECT}`, branch: "main" }, /builds of forks/);
  warned("google", { account: "ci@acme.iam.gserviceaccount.com" }, /makes an account of this address/);
  const account = "ci/builder";
  const issuer = "https://kubernetes.default.svc.cluster.local";
  warned("kubernetes", { account, issuer }, /Every cluster that was set up by default/);
  const ids = { repositoryId: "71", ownerId: "12" };
  assert.deepEqual(resultOf("github", { repository, branch: "main", ...ids }).warnings, []);
});
