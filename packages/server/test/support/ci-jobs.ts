import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Issuer } from "./issuer.ts";

// Jobs of CI systems: tokens with the claims that GitHub Actions and GitLab sign, and the credential helper that sends
// them to a registry.

const HELPER = fileURLToPath(new URL("../../../cli/bin/docker-credential-moorage.js", import.meta.url));
const HELPER_TIMEOUT_MS = 60_000;

type Claims = Record<string, unknown>;

function lasting(issuer: Issuer, audience: string): Claims {
  const now = Math.floor(Date.now() / 1000);
  return { iss: issuer.url, aud: audience, iat: now, nbf: now, exp: now + 300 };
}

/** The claims of a job's token on GitHub Actions: a push to the main branch of acme/app. */
export function githubClaims(issuer: Issuer, audience: string, changes: Claims = {}): Claims {
  const workflow = "acme/app/.github/workflows/release.yml@refs/heads/main";
  return {
    ...lasting(issuer, audience),
    jti: "4d2a",
    sub: "repo:acme/app:ref:refs/heads/main",
    ref: "refs/heads/main",
    ref_type: "branch",
    sha: "0".repeat(40),
    repository: "acme/app",
    repository_owner: "acme",
    repository_id: "71",
    repository_visibility: "private",
    actor: "octavia",
    event_name: "push",
    workflow: "release",
    workflow_ref: workflow,
    job_workflow_ref: workflow,
    run_id: "4711",
    run_number: "12",
    run_attempt: "1",
    runner_environment: "github-hosted",
    environment: "production",
    ...changes,
  };
}

/** The claims of a GitLab job's token: a push to the main branch of acme/app. */
export function gitlabClaims(issuer: Issuer, audience: string, changes: Claims = {}): Claims {
  return {
    ...lasting(issuer, audience),
    sub: "project_path:acme/app:ref_type:branch:ref:main",
    namespace_id: "7",
    namespace_path: "acme",
    project_id: "71",
    project_path: "acme/app",
    user_id: "1",
    user_login: "octavia",
    pipeline_id: "4711",
    pipeline_source: "push",
    job_id: "12",
    ref: "main",
    ref_type: "branch",
    ref_path: "refs/heads/main",
    ref_protected: "true",
    runner_environment: "gitlab-hosted",
    ...changes,
  };
}

/** A program's exit code and what it printed. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs `docker-credential-moorage <action>` as a client does, without environment variables of Moorage or of a CI
 * system.
 */
export async function credentialHelper(action: string, input: string, env: Record<string, string>): Promise<Ended> {
  const own = Object.entries(process.env).filter(([name]) => !/^(?:MOORAGE|ACTIONS|GITHUB|NODE_TEST)_?/.test(name));
  const child = spawn(process.execPath, [HELPER, action], {
    env: { ...Object.fromEntries(own), ...env },
    timeout: HELPER_TIMEOUT_MS,
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  child.stdin.on("error", () => {}).end(input);
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}
