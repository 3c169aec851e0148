// A server with a private image, an identity that the tokens of a real OpenID provider may become, and sign-ins made of
// them: for tests of credential programs.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { openProvider } from "../../server/test/support/openid-provider.ts";
import { freePort, listenAnew } from "../../server/test/support/unused-port.ts";
import { environment, moorage, type Outcome, temporaryFolder } from "./commands.ts";
import { serveHere } from "./server-here.ts";

/** The subject of the provider's tokens: that of a service account of Kubernetes. */
const SUBJECT = "system:serviceaccount:prod:web";

const TIMEOUT_MS = 60_000;

/** What the tests use. */
export interface Installation {
  /** URL of the server, the platform's and the registry's. */
  url: string;
  host: string;
  folder: string;
  /** XDG_CONFIG_HOME and a HOME that are the test's own. */
  env: Record<string, string>;
  credentials: string;
  /** The uid of the identity, which may pull acme/app and nothing else. */
  identity: string;
  /** The uid of the organization acme. */
  organization: string;
  /** A token of the provider for the server, signed anew. */
  token(): Promise<string>;
  /** Calls the platform API as the owner. */
  api<T>(path: string, body?: object): Promise<T>;
  /** Writes credentials.json with a sign-in whose access token ends in so many milliseconds, as the file says. */
  signIn(endsInMs: number): Promise<void>;
}

/** Answers a request, or returns false: then the server does. */
export type Front = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;

/** Starts all of it. `front` sees requests before the server does. */
export async function openInstallation(t: TestContext, front: Front = async () => false): Promise<Installation> {
  const folder = temporaryFolder(t);
  const inner = await freePort();
  const url = await openFront(t, `http://127.0.0.1:${inner}`, front);
  await serveHere(t, folder, {
    MOORAGE_PORT: String(inner),
    MOORAGE_ALLOW_PRIVATE_NETWORK: "1",
    MOORAGE_BASE_URL: url,
  });
  const provider = await openProvider(url, SUBJECT);
  t.after(() => provider.close());
  const owner = (await moorage(["token"], { cwd: folder })).stdout.trim();
  const api = async <T>(path: string, body?: object): Promise<T> => {
    const response = await fetch(url + path, {
      headers: { authorization: `Bearer ${owner}`, "content-type": "application/json" },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    assert.equal(response.status, 200, `${path}: ${await response.clone().text()}`);
    return (await response.json()) as T;
  };
  const pushed = await moorage(["sample", "--push", `${url}/acme/app:1`], { cwd: folder });
  assert.equal(pushed.code, 0, pushed.stderr);
  const { groups } = await api<{ groups: { uid: string }[] }>("/iam/v2/groups?name=acme");
  const organization = groups[0]?.uid ?? "";
  const claimMatch = { issuer: provider.url, subject: SUBJECT };
  const { uid: identity } = await api<{ uid: string }>(`/iam/v2/identities/${organization}`, {
    name: "web",
    claimMatch,
  });
  const { roles } = await api<{ roles: { uid: string }[] }>("/iam/v2/roles?name=registry.pull");
  await api(`/iam/v2/roleBindings/${organization}`, { identityUid: identity, roleUid: roles[0]?.uid ?? "" });
  const config = join(folder, "config");
  const credentials = join(config, "moorage", "credentials.json");
  const home = join(folder, "home");
  mkdirSync(home);
  return {
    url,
    host: new URL(url).host,
    folder,
    env: { XDG_CONFIG_HOME: config, HOME: home },
    credentials,
    identity,
    organization,
    token: () => provider.token(),
    api,
    async signIn(endsInMs) {
      const body = new URLSearchParams({
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        subject_token: await provider.token(),
        subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
        identity,
      });
      const response = await fetch(`${url}/sts/token`, { method: "POST", body });
      const { access_token: accessToken, refresh_token: refreshToken } = (await response.json()) as Record<
        string,
        string
      >;
      assert.ok(accessToken && refreshToken);
      const login = {
        accessToken,
        refreshToken,
        expiresAtMs: Date.now() + endsInMs,
        identityProvider: "",
        registry: new URL(url).host,
      };
      mkdirSync(join(config, "moorage"), { recursive: true, mode: 0o700 });
      writeFileSync(credentials, JSON.stringify({ servers: { [url]: login } }), { mode: 0o600 });
    },
  };
}

/** A server before the server: it hands on all that `front` does not answer. */
async function openFront(t: TestContext, inner: string, front: Front): Promise<string> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (await front(request, response)) return;
    const body = await buffer(request);
    const { host: _, connection: __, "content-length": ___, "transfer-encoding": ____, ...headers } = request.headers;
    const got = await fetch(inner + (request.url ?? "/"), {
      method: request.method ?? "GET",
      headers: Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]),
      ...(body.length > 0 && { body }),
      redirect: "manual",
    });
    const bytes = Buffer.from(await got.arrayBuffer());
    const kept = [...got.headers].filter(
      ([name]) => !/^(?:content-encoding|content-length|transfer-encoding|connection)$/.test(name),
    );
    response.writeHead(got.status, kept.flat()).end(request.method === "HEAD" ? undefined : bytes);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  const port = await listenAnew(server);
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${port}`;
}

/**
 * Runs a program of this package with that input. It has neither the variables of a CI job nor the sign-ins of this
 * machine.
 */
export function runWith(
  program: "moorage-credential-kubelet" | "moorage-keyring",
  args: readonly string[],
  input: string,
  env: Record<string, string> = {},
): Promise<Outcome> {
  const file = fileURLToPath(new URL(`../bin/${program}.js`, import.meta.url));
  const own = Object.entries(environment({})).filter(([name]) => !/^(?:ACTIONS|GITHUB)_/.test(name));
  return new Promise((resolve) => {
    const settings = {
      env: { ...Object.fromEntries(own), XDG_CONFIG_HOME: "/nowhere", ...env },
      timeout: TIMEOUT_MS,
    };
    const child = execFile(process.execPath, [file, ...args], settings, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
    child.stdin?.on("error", () => {}).end(input);
  });
}
