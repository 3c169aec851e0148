// Simulates the OpenID providers of GitHub Actions, of GitLab and of a Kubernetes cluster on loopback, with the claims
// that tokens of their jobs and pods have: for trying keyless pushes and pulls.
//
//   node packages/cli/src/demo/ci-provider.ts 9401
//
// Issuers: <url>/github, <url>/gitlab and <url>/kubernetes. GET <url>/github/token?audience=…&ref=refs/heads/main
// responds as GitHub does when a job requests its token: {"value": "<JWT>"}; GET <url>/gitlab/token?audience=…&ref=main
// returns the text that GitLab stores in a variable of the job. Both tokens are for the project acme/app. GET
// <url>/kubernetes/token?audience=…&account=prod:web returns the token of a pod of that service account.
import { generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const TOKEN_TTL_SECONDS = 300;
const PROJECT = "acme/app";

const server = createServer();
server.listen(Number(process.argv[2] ?? "9401"), "127.0.0.1");
await once(server, "listening");
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const jwks = { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "1", use: "sig", alg: "RS256" }] };

function githubClaims(ref: string): Record<string, unknown> {
  const workflow = `${PROJECT}/.github/workflows/release.yml@${ref}`;
  return {
    sub: `repo:${PROJECT}:ref:${ref}`,
    repository: PROJECT,
    repository_owner: "acme",
    repository_id: "71",
    repository_visibility: "private",
    ref,
    ref_type: ref.startsWith("refs/tags/") ? "tag" : "branch",
    event_name: "push",
    workflow: "release",
    workflow_ref: workflow,
    job_workflow_ref: workflow,
    actor: "octavia",
    run_id: "4711",
    run_number: "12",
    run_attempt: "1",
    runner_environment: "github-hosted",
  };
}

function gitlabClaims(ref: string): Record<string, unknown> {
  return {
    sub: `project_path:${PROJECT}:ref_type:branch:ref:${ref}`,
    namespace_id: "7",
    namespace_path: "acme",
    project_id: "71",
    project_path: PROJECT,
    user_login: "octavia",
    pipeline_id: "4711",
    pipeline_source: "push",
    job_id: "12",
    ref,
    ref_type: "branch",
    ref_path: `refs/heads/${ref}`,
    ref_protected: "true",
    runner_environment: "gitlab-hosted",
  };
}

function kubernetesClaims(account: string): Record<string, unknown> {
  const [namespace, name] = account.split(":");
  return {
    sub: `system:serviceaccount:${namespace}:${name}`,
    "kubernetes.io": { namespace, pod: { name: `${name}-0`, uid: randomUUID() }, serviceaccount: { name } },
  };
}

function signed(issuer: string, audience: string, claims: Record<string, unknown>): string {
  const now = Math.floor(Date.now() / 1000);
  const whole = {
    jti: randomUUID(),
    iss: issuer,
    aud: audience,
    iat: now,
    nbf: now,
    exp: now + TOKEN_TTL_SECONDS,
    ...claims,
  };
  const input = [{ typ: "JWT", alg: "RS256", kid: "1" }, whole]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  return `${input}.${sign("sha256", Buffer.from(input), privateKey).toString("base64url")}`;
}

server.on("request", (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", url);
  const [, system = "", ...rest] = pathname.split("/");
  const issuer = `${url}/${system}`;
  const document = (body: object): void =>
    void response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  const audience = searchParams.get("audience") ?? "";
  switch (`${system}/${rest.join("/")}`) {
    case "github/.well-known/openid-configuration":
    case "gitlab/.well-known/openid-configuration":
    case "kubernetes/.well-known/openid-configuration":
      return document({ issuer, jwks_uri: `${issuer}/jwks` });
    case "github/jwks":
    case "gitlab/jwks":
    case "kubernetes/jwks":
      return document(jwks);
    case "github/token":
      return document({ value: signed(issuer, audience, githubClaims(searchParams.get("ref") ?? "refs/heads/main")) });
    case "gitlab/token":
      return void response.end(signed(issuer, audience, gitlabClaims(searchParams.get("ref") ?? "main")));
    case "kubernetes/token":
      return void response.end(signed(issuer, audience, kubernetesClaims(searchParams.get("account") ?? "prod:web")));
    default:
      response.writeHead(404).end();
  }
});
console.log(`the OpenID providers of two CI systems are listening at ${url}`);
