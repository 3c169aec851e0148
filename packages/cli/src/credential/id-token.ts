// Gets the OIDC token of a CI job from its CI system. Nothing is stored, and no message contains a token.
import { readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";

const REQUEST_TIMEOUT_MS = 10_000;
const ATTEMPTS = 3;
const PAUSE_MS = 500;
const MAX_TOKEN_CHARS = 65_536;
const JWT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** The environment variables of a job. */
export type JobEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * The job's token, from the first available of these: MOORAGE_ID_TOKEN (which a GitLab job declares below `id_tokens`),
 * the file in MOORAGE_ID_TOKEN_FILE, or a request to GitHub Actions for the audience. Throws an Error that says what is
 * missing.
 */
export async function idToken(env: JobEnvironment, audience: string): Promise<string> {
  const given = env["MOORAGE_ID_TOKEN"];
  if (given) return checked(given, "MOORAGE_ID_TOKEN");
  const file = env["MOORAGE_ID_TOKEN_FILE"];
  if (file) return checked(await readToken(file), "the file that MOORAGE_ID_TOKEN_FILE names");
  const [url, bearer] = [env["ACTIONS_ID_TOKEN_REQUEST_URL"], env["ACTIONS_ID_TOKEN_REQUEST_TOKEN"]];
  if (url && bearer) return checked(await askGitHub(url, bearer, audience), "what GitHub Actions answered");
  if (env["GITHUB_ACTIONS"])
    throw new Error("GitHub Actions gives this job no ID token: it needs permissions: id-token: write");
  throw new Error(
    "there is no ID token: set MOORAGE_ID_TOKEN or MOORAGE_ID_TOKEN_FILE, or run as a job of GitHub Actions with permissions: id-token: write",
  );
}

function checked(text: string, origin: string): string {
  const token = text.trim();
  if (token.length > MAX_TOKEN_CHARS || !JWT.test(token))
    throw new Error(`${origin} is no ID token (a JWT: three parts with dots between)`);
  return token;
}

async function readToken(path: string): Promise<string> {
  try {
    return await readFile(path, { encoding: "utf8", signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
  } catch (cause) {
    throw new Error(`${path}, which MOORAGE_ID_TOKEN_FILE names, cannot be read`, { cause });
  }
}

/** Retries temporary failures. Source: GitHub's documentation of OpenID Connect for Actions. */
async function askGitHub(text: string, bearer: string, audience: string): Promise<string> {
  const url = URL.parse(text);
  if (!url) throw new Error("ACTIONS_ID_TOKEN_REQUEST_URL is no URL");
  url.searchParams.set("audience", audience);
  let trouble = "";
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (attempt > 0) await wait(PAUSE_MS * attempt);
    const answer = await ask(url, bearer);
    if ("value" in answer) return answer.value;
    trouble = answer.trouble;
    if (answer.final) break;
  }
  throw new Error(`GitHub Actions gave no ID token: ${trouble}`);
}

async function ask(url: URL, bearer: string): Promise<{ value: string } | { trouble: string; final: boolean }> {
  try {
    const headers = { authorization: `Bearer ${bearer}`, accept: "application/json" };
    const response = await fetch(url, { headers, redirect: "error", signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
    if (response.ok) {
      const { value } = (await response.json()) as { value?: unknown };
      return typeof value === "string" ? { value } : { trouble: "the answer holds none", final: true };
    }
    await response.body?.cancel();
    return { trouble: `it answers HTTP ${response.status}`, final: response.status < 500 && response.status !== 429 };
  } catch {
    // The error of a fetch may contain the URL, and does not help here.
    return { trouble: `${url.host} does not answer as expected`, final: false };
  }
}
